// Runs the project with the Node of its devDependency `node`. Runs first, so Node 20 syntax only.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

const bin = join(root, 'node_modules', '.bin');

/** Returns the path of the project's Node; undefined if not installed. */
export function projectNode() {
  const path =
    process.platform === 'win32'
      ? join(root, 'node_modules', 'node', 'bin', 'node.exe')
      : join(root, 'node_modules', 'node', 'bin', 'node');
  return existsSync(path) ? path : undefined;
}

/** Returns an environment whose PATH starts with `node` and the tools of node_modules. */
export function projectEnv(extra = {}) {
  const path = process.env.PATH ?? '';
  return { ...process.env, PATH: path.startsWith(bin) ? path : bin + delimiter + path, ...extra };
}

/**
 * Runs a script with the project's Node and exits.
 * @param script default: the current one
 * @returns false if this process uses it already
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
  // Ctrl+C reaches the whole process group of a terminal; other signals are forwarded.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const code = await new Promise((resolve) => {
    child.on('error', () => resolve(1));
    child.on('exit', (status, signal) => resolve(status ?? 128 + (constants.signals[signal] ?? 0)));
  });
  process.exit(code);
}
