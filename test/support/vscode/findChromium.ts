// The browser of the tests: the one that is there, else one that can be installed without a
// question.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import { repository } from './repository';

const SHELLS = ['chromium-headless-shell', 'chrome-headless-shell'];
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge'];
const PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

export type Kind = 'shell' | 'browser';

/**
 * The path of a Chromium: `$PARLEY_CHROMIUM`, one of the system, Playwright's own; else Debian's,
 * installed as root; else Playwright's download.
 * @param say told in one line when something has to be installed
 * @throws Error that names the missing part in one line
 */
export function findChromium(say: (line: string) => void, kind: Kind = 'shell'): string {
  const there = installed(kind);
  if (there !== undefined) return there;
  if (process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    say('No browser was found: installing Chromium with apt-get (set PARLEY_CHROMIUM to use another one) …');
    run('apt-get', ['update', '-qq']);
    const install = (name: string): void => run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name]);
    if (kind === 'shell') install('chromium-headless-shell');
    // Older distributions have no package of the shell.
    if (installed(kind) === undefined) install('chromium');
  } else {
    say('Downloading Chromium with Playwright …');
    run(process.execPath, [join(repository, 'node_modules/playwright-core/cli.js'), 'install', 'chromium']);
  }
  const found = installed(kind);
  if (found === undefined) {
    throw new Error('No Chromium, Chrome or Edge was found or could be installed; install one or set PARLEY_CHROMIUM.');
  }
  return found;
}

/** The path of a Chromium that is there already. */
export function installed(kind: Kind = 'shell'): string | undefined {
  const named = process.env.PARLEY_CHROMIUM;
  const folders = ['/usr/bin', ...(process.env.PATH ?? '').split(delimiter)];
  const inFolders = (names: readonly string[]): string[] =>
    folders.flatMap((folder) => names.map((name) => join(folder, name)));
  const shells = kind === 'shell' ? inFolders(SHELLS) : [];
  return [...(named ? [named] : []), ...shells, ...inFolders(NAMES), ...PLACES, chromium.executablePath()].find(
    isExecutable,
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function run(command: string, args: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // Its output matters only if it fails, and then the caller names the missing part.
  spawnSync(command, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
}
