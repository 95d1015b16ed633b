// `npm test`: style and types, then two lanes side by side: what takes the processor (unit tests, stories on several machines), and what waits for VS Code most of the time
// (the suite in a real extension host, the packaged extension in a real browser). The second lane's output is printed step by step, when a step has ended.
// Arguments choose steps by name (`npm test -- unit e2e`). The last line of the output is the sum: "N passed, N failed".
import { spawn } from 'node:child_process';
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
  /** It uses the package that `npm test` has built, rather than build one. */
  readonly isBuilt?: true;
}

const tool = (path: string): string => join(repository, 'node_modules', path);
const CHECKS: readonly Step[] = [
  { name: 'lint', command: [tool('@biomejs/biome/bin/biome'), 'ci', '--error-on-warnings'], counts: false },
  { name: 'types', command: [tool('typescript/bin/tsc'), '-p', '.'], counts: false },
  { name: 'types-webview', command: [tool('typescript/bin/tsc'), '-p', 'src/webview'], counts: false },
  { name: 'types-tests', command: [tool('typescript/bin/tsc'), '-p', 'test/webview'], counts: false },
  // What the lanes test together is built once.
  { name: 'package', command: ['scripts/run.mjs', 'package'], counts: false },
];
const LANES: readonly (readonly Step[])[] = [
  [
    { name: 'unit', command: ['scripts/unit.mjs'], counts: true, isBuilt: true },
    { name: 'machines', command: ['scripts/machines.mjs'], counts: true },
  ],
  [
    { name: 'workbench', command: ['scripts/run.mjs', 'workbench'], counts: true, isBuilt: true },
    { name: 'e2e', command: ['scripts/e2e.mjs'], counts: true, isBuilt: true },
  ],
];

/**
 * Runs a step and adds up what it counted. A step that breaks without a failed test counts as one failure.
 * @param write where its output goes; without it, straight to ours
 */
async function run(step: Step, scratch: string, write?: (output: string) => void): Promise<SuiteResult> {
  const result = join(scratch, step.name);
  const begun = performance.now();
  let output = `\n── ${step.name} ${'─'.repeat(60 - step.name.length)}\n`;
  if (write === undefined) process.stdout.write(output);
  const child = spawn(process.execPath, [...step.command], {
    cwd: repository,
    stdio: write === undefined ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PARLEY_TEST_RESULT: result, ...(step.isBuilt && { PARLEY_PACKAGED: '1' }) },
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const status = await new Promise<number>((resolve) => {
    child.on('error', () => resolve(1));
    child.on('close', (code) => resolve(code ?? 1));
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
  const end = `── ${step.name}: ${status === 0 ? 'passed' : 'FAILED'} in ${seconds} s\n`;
  if (write === undefined) process.stdout.write(end);
  else write(output + end);
  return sum;
}

/** Runs the steps of a lane one after the other. */
async function runLane(steps: readonly Step[], scratch: string, isFirst: boolean): Promise<readonly SuiteResult[]> {
  const sums: SuiteResult[] = [];
  const write = (output: string): void => void process.stdout.write(output);
  for (const step of steps) sums.push(await run(step, scratch, isFirst ? undefined : write));
  return sums;
}

async function main(): Promise<number> {
  const names = process.argv.slice(2);
  const chosen = (steps: readonly Step[]): readonly Step[] =>
    steps.filter(({ name }) => names.length === 0 || names.includes(name));
  const scratch = mkdtempSync(join(tmpdir(), 'parley-test-'));
  const sums: SuiteResult[] = [];
  try {
    // Said now and not in the middle of a suite.
    findChromium((line) => process.stdout.write(`${line}\n`));
    const lanes = LANES.map(chosen).filter((steps) => steps.length > 0);
    const isNeeded = ({ name }: Step): boolean => name === 'package' && lanes.length > 0;
    sums.push(
      ...(await runLane(
        CHECKS.filter((step) => chosen([step]).length > 0 || isNeeded(step)),
        scratch,
        true,
      )),
    );
    sums.push(...(await Promise.all(lanes.map((steps, index) => runLane(steps, scratch, index === 0)))).flat());
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
