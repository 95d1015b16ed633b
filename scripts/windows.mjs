// Runs suites that need only Node as win32 under Wine: `node scripts/windows.mjs [part of a path
// …]`. Without Wine, prints why and counts nothing. test/windows/leftOut.json lists excluded tests
// with reasons; `--listed` runs them too and fails if one passes. `--slow` runs files that are slow
// there because they start many agents.
import { appendFileSync, existsSync, readFileSync, watch } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { reexec, root } from './lib/node24.mjs';
import { buildSupport, buildTests, files } from './lib/suite.mjs';
import { endWine, holdWine, linuxPath, runInWine, setUpWine } from './lib/wine.mjs';

const SUITES = [
  'base',
  'agents',
  'acp',
  'session',
  'store',
  'keeper',
  'editorTools',
  'client/changes',
  'client/connection',
  'client/conversation',
  'client/http',
  'client/requests',
  'client/serving',
  'client/sharing',
  'client/terminals',
  'terminals',
  'client/transport',
  'client/prompts',
  'client/turns',
  'client/view',
  'distributed',
  'conformance',
];
const FILE_MS = 240_000;
const JOBS = availableParallelism();

async function main(patterns) {
  const begun = performance.now();
  const seconds = () => ((performance.now() - begun) / 1000).toFixed(0);
  const letGo = await holdWine();
  try {
    const problem = await setUpWine();
    if (problem === undefined) {
      process.stdout.write(`Wine is set up after ${seconds()} s\n`);
      return await runAll(patterns);
    }
    process.stdout.write(`No tests as win32: ${problem}.\n`);
    return 0;
  } finally {
    letGo();
    process.stdout.write(`The tests as win32 took ${seconds()} s\n`);
  }
}

async function runAll(args) {
  const runsListed = args.includes('--listed');
  const patterns = args.filter((arg) => !arg.startsWith('--'));
  const list = JSON.parse(readFileSync(join(root, 'test/windows/leftOut.json'), 'utf8'));
  const tests = (await files('test/unit')).filter(
    (path) =>
      path.endsWith('.test.ts') &&
      SUITES.some((suite) => path.startsWith(`test/unit/${suite}/`)) &&
      (patterns.length === 0 || patterns.some((part) => path.includes(part))),
  );
  if (tests.length === 0) {
    process.stderr.write(`No test matches ${patterns.join(', ')}\n`);
    return 1;
  }
  const isSlow = (path) => list.slow.includes(path) && !args.includes('--slow');
  const run = tests.filter((path) => list.files[path] === undefined && !isSlow(path));
  await mkdir(join(root, 'out/tests'), { recursive: true });
  const outdir = await mkdtemp(join(root, 'out/tests/windows-'));
  const sum = { passed: 0, failed: 0, pending: 0, failures: [] };
  const leftOut = [];
  let endBuilds;
  try {
    await buildSupport();
    const bundled = await buildTests(run, outdir, {
      target: 'node22',
      alias: { esbuild: join(root, 'scripts/lib/windowsEsbuild.mjs') },
    });
    const builds = join(outdir, 'builds');
    await mkdir(builds);
    endBuilds = serveBuilds(builds);
    const one = async (at) => {
      const path = run[at];
      const begun = performance.now();
      const listed = list.tests[path] ?? {};
      const { results, isWhole, printed } = await runFile(bundled[at], join(outdir, `result-${at}`), {
        PARLEY_BUILDS: builds,
        PARLEY_SKIPPED: JSON.stringify(runsListed ? [] : Object.keys(listed)),
      });
      const seen = new Set(results.map(({ title }) => title));
      const fail = (title, why) => sum.failures.push({ title: `${path}: ${title}`, why });
      let passed = 0;
      for (const { title, state, why } of results) {
        const reason = listed[title];
        if (state === 'passed' && reason !== undefined) fail(title, 'passes, but test/windows/leftOut.json lists it');
        else if (state === 'passed') passed++;
        else if (reason !== undefined) leftOut.push(`${path}: ${title}: ${reason}`);
        else if (state === 'failed') fail(title, why);
        else sum.pending++;
      }
      if (!isWhole) fail('the file', `broke off or took longer than ${FILE_MS / 1000} s\n${printed}`);
      for (const title of Object.keys(listed)) {
        if (isWhole && !seen.has(title)) fail(title, 'is listed in test/windows/leftOut.json and does not exist');
      }
      sum.passed += passed;
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      process.stdout.write(`  ${path}: ${passed} of ${results.length}, ${seconds} s\n`);
    };
    let next = 0;
    const worker = async () => {
      while (next < run.length) await one(next++);
    };
    await Promise.all(Array.from({ length: JOBS }, worker));
  } finally {
    endBuilds?.();
    endWine();
    await rm(outdir, { recursive: true, force: true });
  }
  for (const path of [...Object.keys(list.files), ...list.slow]) {
    if (!existsSync(join(root, path))) sum.failures.push({ title: path, why: 'is listed and does not exist' });
    else if (tests.includes(path) && !run.includes(path)) leftOut.push(`${path}: ${list.files[path] ?? 'slow'}`);
  }
  sum.failed = sum.failures.length;
  process.stdout.write(`\nLeft out as win32 (${leftOut.length}):\n${leftOut.map((line) => `  ${line}\n`).join('')}`);
  for (const { title, why } of sum.failures) process.stdout.write(`\nfailed: ${title}\n${why}\n`);
  process.stdout.write(`\n${sum.passed} passed, ${sum.failed} failed\n`);
  const file = process.env.PARLEY_TEST_RESULT;
  if (file) appendFileSync(file, `${JSON.stringify(sum)}\n`);
  return sum.failed === 0 ? 0 : 1;
}

/** Serves the builds that windowsEsbuild.mjs requests. @returns a function that stops it */
function serveBuilds(folder) {
  const serve = async (name) => {
    const path = join(folder, name);
    const { entryPoints, outfile, absWorkingDir, ...options } = JSON.parse(await readFile(path, 'utf8'));
    const { build } = await import('esbuild');
    const problem = await build({
      ...options,
      entryPoints: entryPoints.map(linuxPath),
      outfile: linuxPath(outfile),
      absWorkingDir: linuxPath(absWorkingDir),
    }).then(
      () => '',
      (error) => String(error),
    );
    await writeFile(`${path}.new`, problem);
    await rename(`${path}.new`, path.replace(/json$/, 'done'));
  };
  const watcher = watch(folder, (_, name) => {
    if (name?.endsWith('.json') && existsSync(join(folder, name))) serve(name).catch(() => {});
  });
  return () => watcher.close();
}

async function runFile(bundled, result, env) {
  const output = `${result}.txt`;
  const script = join(root, 'scripts/lib/windowsRun.mjs');
  await runInWine(['--enable-source-maps', script, result, bundled], { output, ms: FILE_MS, env });
  const lines = existsSync(result) ? readFileSync(result, 'utf8').split('\n').filter(Boolean) : [];
  const results = lines.map((line) => JSON.parse(line));
  const end = results.find(({ ended }) => ended);
  if (end !== undefined && end.platform !== 'win32') throw new Error(`these tests ran as ${end.platform}`);
  const printed = readFileSync(output, 'utf8').slice(-1000);
  return { results: results.filter(({ title }) => title !== undefined), isWhole: end !== undefined, printed };
}

const args = process.argv.slice(2);
if (!(await reexec(process.argv[1], args))) process.exitCode = await main(args);
