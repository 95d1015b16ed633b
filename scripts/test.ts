// Runs tests: `npm run check` (static rules), `npm test` (fast tier), `npm run test:slow` (the
// rest), `npm run test:all` (both). Arguments select steps (`npm test -- unit smoke`). A tier is a
// list of stages with parallel steps. The last line of output is "N passed, N failed".
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository } from '../test/support/vscode/repository';
import { addUp, readResults, type SuiteResult, writeSum } from './lib/results.mts';
import { type Run, start } from './lib/sideBySide.mts';

interface Step {
  readonly name: string;
  readonly command: readonly string[];
  /** Reports counts in PARLEY_TEST_RESULT; otherwise counts as one check. */
  readonly counts?: true;
  /** Uses the package built by this run. */
  readonly usesPackage?: true;
}

type Stage = readonly Step[];

const tool = (path: string): string => join(repository, 'node_modules', path);
const BROWSER: Step = { name: 'browser', command: ['scripts/run.mjs', 'install', 'browser'] };
const VSCODE: Step = { name: 'vscode', command: ['scripts/run.mjs', 'install', 'vscode'] };
const PACKAGE: Step = { name: 'package', command: ['scripts/run.mjs', 'package'] };
const CHECK: Stage = [
  { name: 'types', command: [tool('typescript/bin/tsc'), '-b', '.', 'src/webview', 'test/webview'] },
  { name: 'style', command: [tool('@biomejs/biome/bin/biome'), 'ci', '--error-on-warnings'] },
  { name: 'rules', command: ['scripts/unit.mjs', '--only', 'house'], counts: true },
];

const TIERS: Readonly<Record<string, readonly Stage[]>> = {
  check: [CHECK],
  fast: [
    [PACKAGE, ...CHECK, BROWSER],
    [{ name: 'unit', command: ['scripts/unit.mjs', '--only', 'unit'], counts: true, usesPackage: true }, VSCODE],
    // Run in parallel, since both mostly wait.
    [
      { name: 'panel', command: ['scripts/unit.mjs', '--only', 'panel'], counts: true },
      { name: 'smoke', command: ['scripts/e2e.mjs', 'smoke'], counts: true, usesPackage: true },
    ],
  ],
  slow: [
    [PACKAGE],
    [{ name: 'unit-slow', command: ['scripts/unit.mjs', '--slow'], counts: true, usesPackage: true }],
    [
      { name: 'workbench', command: ['scripts/run.mjs', 'workbench'], counts: true, usesPackage: true },
      { name: 'machines', command: ['scripts/machines.mjs'], counts: true },
    ],
    [{ name: 'e2e', command: ['scripts/e2e.mjs', '--slow'], counts: true, usesPackage: true }],
  ],
};

interface RunningStep {
  readonly step: Step;
  readonly run: Run;
  readonly result: string;
  readonly seconds: Promise<number>;
}

function begin(step: Step, scratch: string): RunningStep {
  const result = join(scratch, step.name);
  const env = { ...process.env, PARLEY_TEST_RESULT: result, ...(step.usesPackage && { PARLEY_PACKAGED: '1' }) };
  const begun = performance.now();
  const run = start(step.command, repository, env);
  return { step, run, result, seconds: run.code.then(() => (performance.now() - begun) / 1000) };
}

/** Waits for a step and adds its counts. A step that crashes counts as one failure. */
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

/** Returns the stages of the given tiers and steps, each once. @throws Error for an unknown step */
function stagesOf(args: readonly string[]): readonly Stage[] {
  const tiers = args.filter((name) => name in TIERS);
  const names = args.filter((name) => !(name in TIERS));
  const seen = new Set<Step>();
  const all = (tiers.length > 0 ? tiers : ['fast'])
    .flatMap((name) => TIERS[name] ?? [])
    .map((stage) => stage.filter((step) => !seen.has(step) && seen.add(step)));
  if (names.length === 0) return all;
  const unknown = names.filter((name) => ![...seen].some((step) => step.name === name));
  if (unknown.length > 0)
    throw new Error(`No step ${unknown.join(', ')}: ${[...seen].map(({ name }) => name).join(', ')}`);
  const stages = all.map((stage) => stage.filter(({ name }) => names.includes(name)));
  const chosen = stages.flat();
  const isMissing = !chosen.includes(PACKAGE) && chosen.some(({ usesPackage }) => usesPackage);
  return isMissing ? [[PACKAGE], ...stages] : stages;
}

async function main(): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-test-'));
  const sums: SuiteResult[] = [];
  try {
    for (const stage of stagesOf(process.argv.slice(2))) {
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
