// `npm start`: opens the chat of the packaged extension in VS Code with a sample folder: on the
// desktop if available, otherwise in the browser with the server from npm. `--server` always uses
// the server, `--no-open` opens no browser, `--check` saves out/screenshots/start.png from a
// headless browser and exits.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chat } from '../test/support/vscode/chat';
import { openWindow, screenshot } from '../test/support/vscode/openWindow';
import { cacheFolder, repository, vsixPath } from '../test/support/vscode/repository';
import { type Server, startServer } from '../test/support/vscode/startServer';
import { chatReady } from '../test/support/vscode/workbench';

const flags = new Set(process.argv.slice(2));
const windows = process.platform === 'win32';
const hasScreen =
  windows || process.platform === 'darwin' || Boolean(process.env.DISPLAY ?? process.env.WAYLAND_DISPLAY);

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<number> {
  say('Building and packaging …');
  const packaged = spawnSync(process.execPath, [join(repository, 'scripts/run.mjs'), 'package'], {
    cwd: repository,
    encoding: 'utf8',
  });
  if (packaged.status !== 0) {
    process.stderr.write(`${packaged.stdout}${packaged.stderr}`);
    return 1;
  }
  if (flags.has('--check')) return check();
  const folder = sample(join(cacheFolder, 'start/sample'));
  if (!flags.has('--server') && hasScreen && openDesktop(folder)) return 0;
  return serve(folder);
}

/** Copies the sample, as agents change it; an existing copy stays as the user left it. */
function sample(target: string): string {
  if (!existsSync(target)) cpSync(join(repository, 'test/support/sample-workspace'), target, { recursive: true });
  return target;
}

/** Installs into desktop VS Code and opens it. @returns false if unavailable or refused */
function openDesktop(folder: string): boolean {
  const code = (...args: string[]): boolean =>
    spawnSync('code', args, { stdio: 'ignore', shell: windows }).status === 0;
  if (!code('--version') || !code('--install-extension', vsixPath, '--force')) return false;
  // The link is handled by the last opened window.
  if (!code('--new-window', folder) || !code('--open-url', 'vscode://parley.parley/open')) return false;
  say(
    `Parley is installed in your VS Code, which shows ${folder} with the chat. ("Parley: Focus Chat" opens it again.)`,
  );
  return true;
}

/** Parley starts nothing by itself, so a tiny second extension opens the chat. */
function packOpener(): string {
  const packagePath = join(cacheFolder, 'start', `opener-${process.pid}.vsix`);
  mkdirSync(join(cacheFolder, 'start'), { recursive: true });
  const vsce = join(repository, 'node_modules/@vscode/vsce/vsce');
  const flags = ['--no-dependencies', '--allow-missing-repository', '--skip-license', '--out', packagePath];
  const cwd = join(repository, 'test/support/vscode/opener');
  const packed = spawnSync(process.execPath, [vsce, 'package', ...flags], { cwd, encoding: 'utf8' });
  if (packed.status !== 0) throw new Error(`The opener could not be packed:\n${packed.stdout}${packed.stderr}`);
  return packagePath;
}

async function start(folder: string, dataDir?: string): Promise<Server> {
  const opener = packOpener();
  try {
    return await startServer({
      say,
      folder,
      extensions: [vsixPath, opener],
      token: true,
      allBuiltIns: true,
      // The sample is ours; a trust dialog would cover the chat.
      trust: true,
      ...(dataDir === undefined ? {} : { dataDir }),
    });
  } finally {
    rmSync(opener, { force: true });
  }
}

async function serve(folder: string): Promise<number> {
  const server = await start(folder, join(cacheFolder, 'start/data'));
  const asked = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });
  say(`\nParley in VS Code: ${server.url}\nCtrl+C ends it.`);
  if (hasScreen && !flags.has('--no-open')) openBrowser(server.url);
  await Promise.race([asked, server.exited]);
  await server.stop();
  return 0;
}

function openBrowser(url: string): void {
  const command = windows ? 'explorer' : process.platform === 'darwin' ? 'open' : 'xdg-open';
  // The address is printed, so a machine without a browser is no error.
  spawn(command, [url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}

async function check(): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-start-'));
  const server = await start(sample(join(scratch, 'sample')));
  try {
    const window = await openWindow(server, { say });
    try {
      await chatReady(window.page, 'panel', 60_000);
      await (await Chat.at(window.page, 'panel')).state('ready');
      await screenshot(window.page, 'start');
    } catch (error) {
      await screenshot(window.page, 'start-failed');
      throw error;
    } finally {
      await window.close();
    }
  } finally {
    await server.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
  say('The chat is open: out/screenshots/start.png');
  return 0;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
