// Tests in a real extension host, started by VS Code's test runner. `VSCODE_PATH`: a desktop VS
// Code; otherwise our launcher starts the server from npm. `--minimum`: the oldest supported
// version. Other arguments select test files by a part of their path.

import { spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTests } from '@vscode/test-electron';
import { build } from 'esbuild';
import { repository } from '../test/support/vscode/repository';
import { typescriptFolder } from '../test/support/vscode/serverTree';
import { readResults, writeSum } from './lib/results.mts';

const minimum = process.argv.includes('--minimum');
const patterns = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const out = join(repository, 'out/workbench');

/** One bundle per test file; `vscode` comes from the host and mocha from node_modules. */
async function bundle(): Promise<readonly string[]> {
  const tests = globSync('test/workbench/**/*.test.ts', { cwd: repository })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => patterns.length === 0 || patterns.some((part) => path.includes(part)))
    .sort();
  rmSync(out, { recursive: true, force: true });
  await build({
    absWorkingDir: repository,
    entryPoints: ['test/workbench/index.ts', ...tests],
    outbase: 'test/workbench',
    outdir: out,
    // As in the product: the CommonJS builds of some packages can't be bundled.
    mainFields: ['module', 'main'],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    external: ['vscode', 'mocha'],
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  return tests.map((path) => join(out, path.replace('test/workbench/', '').replace(/\.ts$/, '.js')));
}

/** Returns an executable that takes VS Code's arguments and exits with the suite's code. */
async function launcher(): Promise<string> {
  const outfile = join(repository, 'out/scripts/launchVsCode.mjs');
  await build({
    absWorkingDir: repository,
    entryPoints: ['scripts/launchVsCode.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    packages: 'external',
    banner: { js: '#!/usr/bin/env node' },
    logLevel: 'warning',
  });
  chmodSync(outfile, 0o755);
  return outfile;
}

async function main(): Promise<number> {
  const builds = [...(process.env.PARLEY_PACKAGED ? [] : [['build.mjs', '--dev']]), ['buildSupport.mjs']];
  for (const [script, ...args] of builds) {
    const run = spawnSync(process.execPath, [join(repository, 'scripts', script ?? ''), ...args], {
      cwd: repository,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (run.status !== 0) return 1;
  }
  const tests = await bundle();
  const desktop = minimum ? process.env.VSCODE_PATH_MINIMUM : process.env.VSCODE_PATH;
  const scratch = mkdtempSync(join(tmpdir(), 'parley-workbench-'));
  const result = join(scratch, 'result.ndjson');
  const workspace = join(scratch, 'workspace');
  mkdirSync(workspace);
  try {
    await runTests({
      vscodeExecutablePath: desktop ?? (await launcher()),
      extensionDevelopmentPath: repository,
      extensionTestsPath: join(out, 'index.js'),
      launchArgs: [workspace, '--disable-extensions'],
      extensionTestsEnv: {
        PARLEY_REPOSITORY: repository,
        PARLEY_TEST_FILES: JSON.stringify(tests),
        PARLEY_TEST_RESULT: result,
        PARLEY_TEST_VERSION: minimum ? 'minimum' : 'newest',
        PARLEY_TEST_NODE: process.execPath,
        ...(desktop ? {} : { PARLEY_TEST_TSDK: await typescriptFolder() }),
      },
    });
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    report(result);
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Reports to the caller that adds up suites, or prints the sum. */
function report(result: string): void {
  if (process.env.PARLEY_TEST_RESULT) {
    if (existsSync(result)) appendFileSync(process.env.PARLEY_TEST_RESULT, readFileSync(result, 'utf8'));
  } else {
    const sum = readResults(result);
    // A crashed host has no counts.
    writeSum(sum.passed + sum.failed > 0 ? sum : { passed: 0, failed: 1, failures: [] });
  }
}

process.exit(await main());
