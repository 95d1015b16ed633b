// Installs missing or outdated dependencies with any Node ≥ 20, then runs a task with the project's
// Node: `node scripts/bootstrap.mjs TASK [arguments]` runs scripts/TASK.mjs or scripts/TASK.ts.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { projectEnv, projectNode, root } from './lib/node24.mjs';

/** Returns whether all packages of the lock file are installed in their versions. */
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

/** Returns an error message, or undefined. */
function install() {
  if (!isInstalled()) {
    process.stdout.write('Installing the dependencies (npm ci) …\n');
    // Retries once, as registries fail occasionally.
    if (!npm('ci') && !npm('ci')) return 'The dependencies could not be installed: is the npm registry reachable?';
  }
  // A user's `ignore-scripts` skips the install script that downloads the binary of `node`.
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
