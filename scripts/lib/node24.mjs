// The project runs on the Node of its devDependency `node` (24); the machine's Node may be older.
// Plain Node 20 syntax only: this file runs before anything else.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

const bin = join(root, 'node_modules', '.bin');

/** The project's Node, or undefined if the dependencies are not installed. */
export function projectNode() {
  const path =
    process.platform === 'win32'
      ? join(root, 'node_modules', 'node', 'bin', 'node.exe')
      : join(root, 'node_modules', 'node', 'bin', 'node');
  return existsSync(path) ? path : undefined;
}

/** An environment in which `node` and the tools of node_modules come first. */
export function projectEnv(extra = {}) {
  const path = process.env.PATH ?? '';
  return { ...process.env, PATH: path.startsWith(bin) ? path : bin + delimiter + path, ...extra };
}

/**
 * Runs a script with the project's Node unless this process is one already.
 * @param script file to run instead of the current one @param args its arguments
 * @returns false if this is already the project's Node; otherwise this process ends with the exit
 * code of the child
 */
export async function reexec(script, args) {
  const node = projectNode();
  if (node === undefined) {
    process.stderr.write('The dependencies are not installed: run `npm ci` first.\n');
    process.exit(1);
  }
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= 24 && process.env.PATH?.startsWith(bin)) return false;
  const child = spawn(node, [script, ...args], { stdio: 'inherit', env: projectEnv(), cwd: root });
  // Ctrl+C reaches the whole group of a terminal; a signal that is sent to this process alone is
  // handed on.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const code = await new Promise((resolve) => {
    child.on('error', () => resolve(1));
    child.on('exit', (status, signal) => resolve(status ?? 128 + (constants.signals[signal] ?? 0)));
  });
  process.exit(code);
}
