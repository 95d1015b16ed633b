// Bundles the test files of a suite and runs mocha in separate processes, which may hang or crash.
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { projectEnv, root } from './node24.mjs';

/** Run on separate machines (test/support/machines/network.ts). */
const MACHINE_PROGRAMS = ['windowHost', 'originalHost', 'bucketHost', 'proxyHost'];

/** Modules of Temml that Node can't import because of imports without extensions. */
const TEMML = ['Settings', 'Style', 'buildMathML', 'defineFunction', 'parseTree'];

/** Bundled, since Node can't import them by name. */
const MODULES = {
  'jsonc-parser': join(root, 'node_modules/jsonc-parser/lib/esm/main.js'),
  ...Object.fromEntries(TEMML.map((name) => [`temml/src/${name}.js`, join(root, `node_modules/temml/src/${name}.js`)])),
};

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  packages: 'external',
  sourcemap: 'inline',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.css': 'empty', '.ttf': 'empty' },
  alias: MODULES,
  logLevel: 'warning',
};

/**
 * Runs the tests of several folders in parallel, with sequential output.
 * @param suites `folder`; `without`: path prefixes to exclude; `jobs`: parallel processes;
 * `longest`: parts of paths of files to start first, each in its own process; `batch`: files per
 * process (default: unlimited)
 * @param args parts of paths to select files; mocha options after `--`
 * @param timeout per test, ms
 * @param tier `fast`: without *.slow.test.ts; `slow`: only these and files with more cases
 * (test/support/tier.ts); default, and with parts of paths: all
 * @returns 0 if all passed
 */
export async function runSuites({ suites, args, timeout, tier }) {
  const end = args.indexOf('--');
  const patterns = end < 0 ? args : args.slice(0, end);
  const mochaOptions = end < 0 ? [] : args.slice(end + 1);
  const chosen = [];
  for (const { folder, without, jobs = 1, longest = [], batch } of suites) {
    const all = (await files(folder)).filter(
      (path) => /\.test\.tsx?$/.test(path) && !(without && path.startsWith(without)),
    );
    const tests =
      patterns.length > 0
        ? all.filter((path) => patterns.some((part) => path.includes(part)))
        : await ofTier(all, tier);
    const rank = (path) => {
      const at = longest.findIndex((part) => path.includes(part));
      return at < 0 ? longest.length : at;
    };
    tests.sort((one, other) => rank(one) - rank(other));
    const alone = batch === undefined ? 0 : tests.filter((path) => rank(path) < longest.length).length;
    if (tests.length > 0) chosen.push({ tests, jobs, batch, alone });
  }
  if (chosen.length === 0) {
    const names = suites.map(({ folder }) => folder).join(', ');
    process.stderr.write(`No test in ${names} matches ${patterns.join(', ')}\n`);
    return 1;
  }
  await mkdir(join(root, 'out/tests'), { recursive: true });
  // One folder per run, since several can run in the same tree.
  const outdir = await mkdtemp(join(root, 'out/tests/run-'));
  try {
    await buildSupport();
    if (chosen.some(({ tests }) => tests.some((path) => path.startsWith('test/machines/')))) await buildMachines();
    // Dynamic, since this file may be read by an older Node.
    const { inOrder, start, startInLanes } = await import('./sideBySide.mts');
    const { readResults, writeSum } = await import('./results.mts');
    const result = process.env.PARLEY_TEST_RESULT ?? join(outdir, 'result');
    const env = { ...projectEnv(), PARLEY_TEST_RUN: outdir, PARLEY_TEST_RESULT: result, PARLEY_TIER: tier ?? 'fast' };
    const begin = (bundled, more = []) =>
      start(mocha(bundled, ['--timeout', String(timeout), ...more, ...mochaOptions]), root, env);
    const runs = [];
    for (const { tests, jobs, batch, alone } of chosen) {
      const bundled = await buildTests(tests, outdir);
      if (batch === undefined) {
        runs.push(begin(bundled, jobs > 1 && bundled.length > 1 ? ['--parallel', '--jobs', String(jobs)] : []));
      } else {
        const batches = [...bundled.slice(0, alone).map((file) => [file]), ...cut(bundled.slice(alone), batch)];
        runs.push(
          ...startInLanes(
            batches.map((files) => () => begin(files)),
            jobs,
          ),
        );
      }
    }
    const codes = await inOrder(runs);
    const code = Math.max(...codes);
    if (codes.length > 1 && result !== process.env.PARLEY_TEST_RESULT) {
      // Repeats failures from far above; a crashed process has no counts.
      const sum = readResults(result);
      writeSum({ ...sum, failed: Math.max(sum.failed, Math.min(code, 1)) });
    }
    return code;
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

async function ofTier(paths, tier) {
  if (tier === undefined) return paths;
  const isSlow = (path) => /\.slow\.test\.tsx?$/.test(path);
  if (tier === 'fast') return paths.filter((path) => !isSlow(path));
  const isWanted = async (path) => isSlow(path) || /\/support\/tier'/.test(await readFile(join(root, path), 'utf8'));
  const wanted = await Promise.all(paths.map(isWanted));
  return paths.filter((_, index) => wanted[index]);
}

/** Splits a list into parts whose lengths differ by at most one. @param most maximum length */
function cut(list, most) {
  const parts = Math.ceil(list.length / most);
  return Array.from({ length: parts }, (_, at) =>
    list.slice(Math.floor((at * list.length) / parts), Math.floor(((at + 1) * list.length) / parts)),
  );
}

export async function files(folder) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}

/**
 * Bundles the programs that tests spawn to `out/support`: test/support/agents/*.ts → agents/*.js,
 * the demo agent → demo/agent.js. Replaces files by rename, since several runs share them.
 */
export async function buildSupport() {
  const { build } = await import('esbuild');
  const entries = Object.fromEntries(
    (await files('test/support/agents'))
      .filter((path) => /^test\/support\/agents\/[^/]+\.ts$/.test(path))
      .map((path) => [path.slice('test/support/'.length, -'.ts'.length), path]),
  );
  entries['demo/agent'] = 'src/demo/agent.ts';
  await put(join(root, 'out/support/package.json'), Buffer.from('{ "type": "module" }\n'));
  const { outputFiles } = await build({ ...shared, entryPoints: entries, outdir: 'out/support', write: false });
  for (const { path, contents } of outputFiles) await put(path, contents);
}

/** Bundles test/support/machines to `out/support/machines`, with a stub of VS Code. */
export async function buildMachines() {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    ...shared,
    entryPoints: MACHINE_PROGRAMS.map((name) => `test/support/machines/${name}.ts`),
    outdir: 'out/support/machines',
    write: false,
    // Windows are often killed and restarted, and each loads the whole file.
    sourcemap: false,
    alias: { ...MODULES, vscode: join(root, 'test/support/machines/editor.ts') },
    // From VS Code's editors: no file is edited on these machines.
    logOverride: { 'import-is-undefined': 'silent' },
  });
  for (const { path, contents } of outputFiles) await put(path, contents);
}

async function put(path, contents) {
  const before = await readFile(path).catch(() => undefined);
  if (before?.equals(contents)) return;
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, contents);
  await rename(temporary, path);
}

/** Bundles test files. @param target Node version @param alias further package replacements */
export async function buildTests(entryPoints, outdir, { target = shared.target, alias = {} } = {}) {
  const { build } = await import('esbuild');
  await build({
    ...shared,
    target,
    alias: { ...MODULES, ...alias },
    entryPoints,
    outbase: 'test',
    outdir,
    // Splitting keeps one copy of each module, as in the product, and is faster for many tests.
    splitting: true,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
  });
  return entryPoints.map((path) => join(outdir, path.replace(/^test\//, '').replace(/\.tsx?$/, '.mjs')));
}

function mocha(bundled, options) {
  const program = join(root, 'node_modules/mocha/bin/mocha.js');
  const reporter = join(root, 'scripts/lib/countingReporter.cjs');
  // Mocha writes to a pipe, so it can't detect the terminal.
  const colour = process.stdout.isTTY ? ['--color'] : [];
  return ['--enable-source-maps', program, '--reporter', reporter, '--exit', ...colour, ...options, ...bundled];
}
