// Bundles the test files of a suite and runs mocha on them in a separate process, so that a suite
// that hangs or crashes does not take the caller with it.
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { projectEnv, root } from './node24.mjs';

/** Run on a separate machine (test/support/machines/network.ts). */
const MACHINE_PROGRAMS = ['windowHost', 'originalHost', 'bucketHost', 'proxyHost'];

/** Modules of Temml, which Node cannot import as they name each other without extensions. */
const TEMML = ['Settings', 'Style', 'buildMathML', 'defineFunction', 'parseTree'];

/** What Node cannot import by its name: it is bundled. */
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
 * Runs the tests of some folders side by side, with the output of one folder after another.
 * @param suites `folder` relative to the root; `without`: what its paths must not begin with;
 * `jobs`: processes side by side; `longest`: parts of the paths of files that begin, so that none
 * of them runs alone at the end; `batch`: files for a process, which then ends, but each of the
 * longest has its own. Without it, a process runs files until there are none
 * @param args parts of paths to choose files by; after `--` come options for mocha
 * @param timeout milliseconds for each test
 * @param tier `fast` leaves out the files named *.slow.test.ts; `slow` runs these, and those that
 * try more in this tier (test/support/tier.ts). Without it, or with parts of paths, all run
 * @returns 0 where all passed
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
  // A folder for each run: someone else may be testing in the same tree.
  const outdir = await mkdtemp(join(root, 'out/tests/run-'));
  try {
    await buildSupport();
    if (chosen.some(({ tests }) => tests.some((path) => path.startsWith('test/machines/')))) await buildMachines();
    // Imported here, as an older Node may read this file before the project's own runs it.
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
      // What failed is far above, in the output of its process; one that broke off has counted
      // nothing.
      const sum = readResults(result);
      writeSum({ ...sum, failed: Math.max(sum.failed, Math.min(code, 1)) });
    }
    return code;
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

/** Chooses the files of a tier. */
async function ofTier(paths, tier) {
  if (tier === undefined) return paths;
  const isSlow = (path) => /\.slow\.test\.tsx?$/.test(path);
  if (tier === 'fast') return paths.filter((path) => !isSlow(path));
  const isWanted = async (path) => isSlow(path) || /\/support\/tier'/.test(await readFile(join(root, path), 'utf8'));
  const wanted = await Promise.all(paths.map(isWanted));
  return paths.filter((_, index) => wanted[index]);
}

/** Cuts a list into parts that differ by one at most. @param most how many a part may have */
function cut(list, most) {
  const parts = Math.ceil(list.length / most);
  return Array.from({ length: parts }, (_, at) =>
    list.slice(Math.floor((at * list.length) / parts), Math.floor(((at + 1) * list.length) / parts)),
  );
}

/** All files under a folder, relative to the root; empty if the folder doesn't exist. */
export async function files(folder) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}

/**
 * Bundles the programs that tests spawn to `out/support`: test/support/agents/*.ts → agents/*.js,
 * the demo agent → demo/agent.js.
 * Files are replaced by rename, and only if they changed, so that a concurrent run never reads half
 * of one.
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

/**
 * Bundles the programs that run on separate machines (test/support/machines) to
 * `out/support/machines`, with a stand-in for VS Code.
 */
export async function buildMachines() {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    ...shared,
    entryPoints: MACHINE_PROGRAMS.map((name) => `test/support/machines/${name}.ts`),
    outdir: 'out/support/machines',
    write: false,
    // A window is started for each one that is killed, and reads all of its file.
    sourcemap: false,
    alias: { ...MODULES, vscode: join(root, 'test/support/machines/editor.ts') },
    // Of VS Code's own editors: no file is edited on these machines.
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

/**
 * Bundles test files.
 * @param target the Node that runs them @param alias packages that are replaced, on top of those of
 * all tests
 * @returns the bundled files, in the order of the entries
 */
export async function buildTests(entryPoints, outdir, { target = shared.target, alias = {} } = {}) {
  const { build } = await import('esbuild');
  await build({
    ...shared,
    target,
    alias: { ...MODULES, ...alias },
    entryPoints,
    outbase: 'test',
    outdir,
    // Splitting keeps one copy of each module, as in the product, and makes the bundling of many
    // tests fast.
    splitting: true,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
  });
  return entryPoints.map((path) => join(outdir, path.replace(/^test\//, '').replace(/\.tsx?$/, '.mjs')));
}

/** @returns what to start Node with */
function mocha(bundled, options) {
  const program = join(root, 'node_modules/mocha/bin/mocha.js');
  const reporter = join(root, 'scripts/lib/countingReporter.cjs');
  // It writes to a pipe and cannot see where its output ends up.
  const colour = process.stdout.isTTY ? ['--color'] : [];
  return ['--enable-source-maps', program, '--reporter', reporter, '--exit', ...colour, ...options, ...bundled];
}
