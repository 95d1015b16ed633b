// `npm test`: style, types, unit tests, stories on several machines, the suite in a real extension
// host, the packaged extension in a real browser; one after the other, as the machine may be small.
// Arguments choose steps by name (`npm test -- unit e2e`). The last line of the output is the sum:
// "N passed, N failed".
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '../test/support/vscode/findChromium';
import { repository } from '../test/support/vscode/repository';
import { addUp, readResults, type SuiteResult, writeSum } from './lib/results';

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
const STEPS: readonly Step[] = [
  { name: 'lint', command: [tool('@biomejs/biome/bin/biome'), 'ci', '--error-on-warnings'], counts: false },
  { name: 'types', command: [tool('typescript/bin/tsc'), '-p', '.'], counts: false },
  { name: 'types-webview', command: [tool('typescript/bin/tsc'), '-p', 'src/webview'], counts: false },
  { name: 'types-tests', command: [tool('typescript/bin/tsc'), '-p', 'test/webview'], counts: false },
  PACKAGE,
  { name: 'unit', command: ['scripts/unit.mjs'], counts: true, usesPackage: true },
  { name: 'machines', command: ['scripts/machines.mjs'], counts: true },
  { name: 'workbench', command: ['scripts/run.mjs', 'workbench'], counts: true, usesPackage: true },
  { name: 'e2e', command: ['scripts/e2e.mjs'], counts: true, usesPackage: true },
];

/** Runs a step and adds up what it counted. A step that breaks without a failed test counts as one failure. */
function run(step: Step, scratch: string): SuiteResult {
  const result = join(scratch, step.name);
  const begun = performance.now();
  process.stdout.write(`\n── ${step.name} ${'─'.repeat(60 - step.name.length)}\n`);
  const { status } = spawnSync(process.execPath, [...step.command], {
    cwd: repository,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PARLEY_TEST_RESULT: result, ...(step.usesPackage && { PARLEY_PACKAGED: '1' }) },
  });
  const counted = readResults(result);
  const sum = {
    passed: step.counts ? counted.passed : Number(status === 0),
    failed: status === 0 ? counted.failed : Math.max(counted.failed, 1),
    failures:
      status === 0 || counted.failures.length > 0
        ? counted.failures
        : [{ title: step.name, why: 'the step broke off; its output says why' }],
  };
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  process.stdout.write(`── ${step.name}: ${status === 0 ? 'passed' : 'FAILED'} in ${seconds} s\n`);
  return sum;
}

/** The chosen steps, and the package that they use. */
function choose(names: readonly string[]): readonly Step[] {
  if (names.length === 0) return STEPS;
  const chosen = STEPS.filter(({ name }) => names.includes(name));
  const isMissing = !chosen.includes(PACKAGE) && chosen.some(({ usesPackage }) => usesPackage);
  return isMissing ? [PACKAGE, ...chosen] : chosen;
}

function main(): number {
  const steps = choose(process.argv.slice(2));
  const scratch = mkdtempSync(join(tmpdir(), 'parley-test-'));
  const sums: SuiteResult[] = [];
  try {
    // Said now and not in the middle of a suite.
    findChromium((line) => process.stdout.write(`${line}\n`));
    for (const step of steps) sums.push(run(step, scratch));
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

process.exitCode = main();
