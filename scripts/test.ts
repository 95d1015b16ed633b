// `npm test`: style, types, unit tests, stories on several machines, the suite in a real extension
// host, the packaged extension in a real browser. Steps that leave a small machine idle run side by side.
// Arguments choose steps by name (`npm test -- unit e2e`). The last line of the output is the sum:
// "N passed, N failed".
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '../test/support/vscode/findChromium';
import { repository } from '../test/support/vscode/repository';
import { addUp, readResults, type SuiteResult, writeSum } from './lib/results.mts';
import { type Run, start } from './lib/sideBySide.mts';

interface Step {
  readonly name: string;
  readonly command: readonly string[];
  /** It counts its tests in PARLEY_TEST_RESULT; otherwise it is one check as a whole. */
  readonly counts: boolean;
  /** It uses the package of this run, rather than build one. */
  readonly usesPackage?: true;
}

const tool = (path: string): string => join(repository, 'node_modules', path);
const PACKAGE: Step = { name: 'package', command: ['scripts/run.mjs', 'package'], counts: false };
/** What runs side by side, stage after stage. */
const STAGES: readonly (readonly Step[])[] = [
  [
    { name: 'lint', command: [tool('@biomejs/biome/bin/biome'), 'ci', '--error-on-warnings'], counts: false },
    { name: 'types', command: [tool('typescript/bin/tsc'), '-p', '.'], counts: false },
    { name: 'types-webview', command: [tool('typescript/bin/tsc'), '-p', 'src/webview'], counts: false },
    { name: 'types-tests', command: [tool('typescript/bin/tsc'), '-p', 'test/webview'], counts: false },
    PACKAGE,
  ],
  [{ name: 'unit', command: ['scripts/unit.mjs'], counts: true, usesPackage: true }],
  [
    { name: 'workbench', command: ['scripts/run.mjs', 'workbench'], counts: true, usesPackage: true },
    { name: 'machines', command: ['scripts/machines.mjs'], counts: true },
  ],
  [{ name: 'e2e', command: ['scripts/e2e.mjs'], counts: true, usesPackage: true }],
];

interface RunningStep {
  readonly step: Step;
  readonly run: Run;
  readonly result: string;
  /** Settles with how long it took, in seconds. */
  readonly seconds: Promise<number>;
}

function begin(step: Step, scratch: string): RunningStep {
  const result = join(scratch, step.name);
  const env = { ...process.env, PARLEY_TEST_RESULT: result, ...(step.usesPackage && { PARLEY_PACKAGED: '1' }) };
  const begun = performance.now();
  const run = start(step.command, repository, env);
  return { step, run, result, seconds: run.code.then(() => (performance.now() - begun) / 1000) };
}

/** Waits for a step and adds up what it counted. A step that breaks without a failed test counts as one failure. */
async function finish({ step, run, result, seconds }: RunningStep): Promise<SuiteResult> {
  process.stdout.write(`\n── ${step.name} ${'─'.repeat(60 - step.name.length)}\n`);
  run.show();
  const status = await run.code;
  const counted = readResults(result);
  const sum = {
    passed: step.counts ? counted.passed : Number(status === 0),
    failed: status === 0 ? counted.failed : Math.max(counted.failed, 1),
    failures:
      status === 0 || counted.failures.length > 0
        ? counted.failures
        : [{ title: step.name, why: 'the step broke off; its output says why' }],
  };
  const end = `${status === 0 ? 'passed' : 'FAILED'} in ${(await seconds).toFixed(1)} s`;
  process.stdout.write(`── ${step.name}: ${end}\n`);
  return sum;
}

/** The chosen steps, and the package that they use. */
function choose(names: readonly string[]): readonly (readonly Step[])[] {
  if (names.length === 0) return STAGES;
  const stages = STAGES.map((stage) => stage.filter(({ name }) => names.includes(name)));
  const chosen = stages.flat();
  const isMissing = !chosen.includes(PACKAGE) && chosen.some(({ usesPackage }) => usesPackage);
  return isMissing ? [[PACKAGE], ...stages] : stages;
}

async function main(): Promise<number> {
  const stages = choose(process.argv.slice(2));
  const scratch = mkdtempSync(join(tmpdir(), 'parley-test-'));
  const sums: SuiteResult[] = [];
  try {
    // Said now and not in the middle of a suite.
    findChromium((line) => process.stdout.write(`${line}\n`));
    for (const stage of stages) {
      const running = stage.map((step) => begin(step, scratch));
      for (const step of running) sums.push(await finish(step));
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    sums.push({ passed: 0, failed: 1, failures: [{ title: 'the run', why }] });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  const sum = addUp(sums);
  writeSum(sum);
  return sum.failed === 0 && sum.passed > 0 ? 0 : 1;
}

process.exitCode = await main();
