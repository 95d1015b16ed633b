// Entry point that needs only Node ≥ 20: installs missing or outdated dependencies, then runs a
// task with the project's Node.
// `node scripts/bootstrap.mjs TASK [arguments]`, where TASK is scripts/TASK.mjs or scripts/TASK.ts.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { projectEnv, projectNode, root } from './lib/node24.mjs';

/** Whether node_modules has each package of the lock file in its version. */
function isInstalled() {
  const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8')).packages;
  try {
    const installed = read('node_modules/.package-lock.json');
    return Object.entries(read('package-lock.json')).every(
      ([path, { version, optional, link }]) => path === '' || optional || link || installed[path]?.version === version,
    );
  } catch {
    return false;
  }
}

function npm(...args) {
  const options = { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], shell: process.platform === 'win32' };
  return spawnSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], options).status === 0;
}

/** @returns an error message, or undefined */
function install() {
  if (!isInstalled()) {
    process.stdout.write('Installing the dependencies (npm ci) …\n');
    // A registry that stumbles once is no reason to fail.
    if (!npm('ci') && !npm('ci')) return 'The dependencies could not be installed: is the npm registry reachable?';
  }
  // The package `node` fetches its binary in an install script, which `ignore-scripts` in a user's
  // npmrc skips.
  if (projectNode() === undefined) npm('rebuild', 'node', '--ignore-scripts=false');
  return projectNode() === undefined ? 'Node 24 could not be installed from npm (package `node`).' : undefined;
}

async function main() {
  if (Number(process.versions.node.split('.')[0]) < 20) return fail(`Node ≥ 20 is needed; this is ${process.version}.`);
  const problem = install();
  if (problem !== undefined) return fail(problem);
  const [task, ...rest] = process.argv.slice(2);
  const plain = join(root, 'scripts', `${task}.mjs`);
  const args = existsSync(plain) ? [plain, ...rest] : [join(root, 'scripts/run.mjs'), task, ...rest];
  const child = spawn(projectNode(), args, { cwd: root, stdio: 'inherit', env: projectEnv() });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(fail(String(error))));
    child.on('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  return 1;
}

process.exit(await main());
