// A VS Code server of one's own: a free port, a data folder and a workspace in a temporary folder,
// our VSIX installed. Ends with everything that it started.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deferred } from '../../../src/base/deferred';
import { removeFolder } from '../scratch';
import { endKeepers, stopKeepers } from './leftKeepers';
import { descendants, endTree, kill, type ProcessEntry } from './processTree';
import { type ServerTree, serverTree, type VsCodeVersion } from './serverTree';

export interface ServerOptions {
  readonly version?: VsCodeVersion;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly extensions?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** True (default): every folder is trusted. False: the workspace asks, as it does for a user. */
  readonly trust?: boolean;
  readonly folder?: string;
  readonly dataDir?: string;
  /**
   * How long the server waits for a browser that is away, in seconds. Default: VS Code's, three
   * hours.
   */
  readonly graceSeconds?: number;
  /**
   * True: a random connection token, as for a person. Default: none, as the port is on loopback and
   * lives for one test.
   */
  readonly token?: boolean;
  /** True: with all extensions that come with VS Code. Default: without those in `NEEDLESS`. */
  readonly allBuiltIns?: boolean;
  readonly say?: (line: string) => void;
}

export interface Server {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly folder: string;
  readonly dataDir: string;
  /**
   * The home folder of everything that runs in it: an empty one, as profiles of shells may take
   * minutes.
   */
  readonly home: string;
  readonly output: () => string;
  readonly exited: Promise<void>;
  /** Changes settings of the machine; VS Code sees the file change. */
  readonly configure: (settings: Readonly<Record<string, unknown>>) => void;
  /**
   * Makes it as new for another window: another empty folder, these settings, nothing that was
   * kept.
   * All windows must be closed.
   * @throws Error if an extension host does not end
   */
  readonly renew: (settings: ServerOptions['settings']) => Promise<Server>;
  readonly stop: () => Promise<readonly ProcessEntry[]>;
}

const QUIET: Readonly<Record<string, unknown>> = {
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'git.openRepositoryInParentFolders': 'never',
  'chat.disableAIFeatures': true,
  // VS Code would show it for its own chat, which is off.
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'security.workspace.trust.banner': 'never',
  // Agents would outlive the window of their test for a minute. Tests of that turn it on.
  'parley.background': 'off',
};

/** Extensions of VS Code that no test uses. The oldest version starts them nevertheless. */
const NEEDLESS: readonly string[] = [
  'GitHub.copilot-chat',
  ...['js-debug', 'js-debug-companion', 'vscode-js-profile-table'].map((name) => `ms-vscode.${name}`),
  ...[
    'debug-auto-launch',
    'debug-server-ready',
    'emmet',
    'extension-editing',
    'github',
    'github-authentication',
    'grunt',
    'gulp',
    'ipynb',
    'jake',
    'markdown-math',
    'merge-conflict',
    'mermaid-markdown-features',
    'microsoft-authentication',
    'notebook-renderers',
    'php-language-features',
    'terminal-suggest',
    'tunnel-forwarding',
  ].map((name) => `vscode.${name}`),
];

/**
 * Starts a server and waits until it listens.
 * @throws Error with the server's output if it ends instead
 */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const tree = await serverTree(options.version ?? 'newest', options.say ?? (() => {}));
  const scratch = mkdtempSync(join(tmpdir(), 'parley-vscode-'));
  const dataDir = options.dataDir ?? join(scratch, 'data');
  const folder = options.folder ?? join(scratch, 'workspace');
  const home = join(scratch, 'home');
  mkdirSync(folder, { recursive: true });
  mkdirSync(home);
  let settings: ServerOptions['settings'] = { ...QUIET, ...options.settings };
  const configure = (more: Readonly<Record<string, unknown>>): void => {
    settings = { ...settings, ...more };
    mkdirSync(join(dataDir, 'data/Machine'), { recursive: true });
    writeFileSync(join(dataDir, 'data/Machine/settings.json'), JSON.stringify(settings, null, 2));
  };
  configure({});
  const extensions = options.extensions ?? [];
  if (extensions.length > 0) installExtensions(tree, extensions, home, dataDir, options.dataDir !== undefined);

  const args = ['--host', '127.0.0.1', '--port', '0', '--accept-server-license-terms', '--server-data-dir', dataDir];
  args.push('--disable-telemetry', '--disable-experiments', '--enable-smoke-test-driver');
  if (options.graceSeconds !== undefined) args.push(`--reconnection-grace-time=${options.graceSeconds}`);
  if (!options.token) args.push('--without-connection-token');
  if (options.trust ?? true) args.push('--disable-workspace-trust');
  const child = spawn(tree.node, ['out/server-main.js', ...args], {
    cwd: tree.folder,
    env: {
      ...environment({ HOME: home, ...options.env }),
      ...(!options.allBuiltIns && { VSCODE_SKIP_BUILTIN_EXTENSIONS: NEEDLESS.join(',') }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group: Ctrl+C in a terminal reaches us, and we end it in order.
    detached: process.platform !== 'win32',
  });
  let output = '';
  const keep = (line: string): void => {
    output = `${output}${line}\n`.slice(-64_000);
  };
  const listening = new Deferred<{ port: number; token: string | undefined }>();
  const exited = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      keep(String(error));
      resolve();
    });
    child.once('exit', () => resolve());
  });
  createInterface({ input: child.stderr }).on('line', keep);
  let port: number | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    keep(line);
    port = Number(/^Extension host agent listening on (\d+)/.exec(line)?.[1] ?? port);
    const ui = /^Web UI available at \S+?(?:\?tkn=([\w-]+))?$/.exec(line.trim());
    // The server prints the port first and, if it has a web client, its address a little later.
    if (ui !== null && port !== undefined) listening.resolve({ port, token: ui[1] });
  });
  void exited.then(() => listening.reject(new Error(`The VS Code server ended while it started:\n${output}`)));
  // A test that breaks before it stops its server must not leave one behind.
  const abandon = (): void => {
    for (const entry of [...descendants(child.pid ?? -1)].reverse()) kill(entry.pid);
    child.kill('SIGKILL');
    stopKeepers(dataDir);
    removeScratch();
  };
  process.once('exit', abandon);
  void exited.then(() => process.off('exit', abandon));
  const removeScratch = (): void => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  const at = await listening.promise.catch((error: unknown) => {
    removeScratch();
    throw error;
  });
  const pid = child.pid ?? 0;
  const serverOf = (opened: string): Server => ({
    url: `http://127.0.0.1:${at.port}/?${new URLSearchParams({ ...(at.token ? { tkn: at.token } : {}), folder: opened })}`,
    port: at.port,
    pid,
    folder: opened,
    dataDir,
    home,
    output: () => output,
    exited,
    configure,
    renew: async (fresh) => {
      await hostsHaveEnded(pid);
      await endKeepers(dataDir);
      await removeFolder(join(dataDir, 'data/User'));
      settings = { ...QUIET, ...fresh };
      configure({});
      return serverOf(mkdtempSync(join(scratch, 'workspace-')));
    },
    stop: async () => {
      const left = await endTree(pid, exited, 8_000);
      await endKeepers(dataDir);
      removeScratch();
      return left;
    },
  });
  return serverOf(folder);
}

/** Waits until a server has no extension host left. @throws Error after 10 s */
async function hostsHaveEnded(pid: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (descendants(pid).some(({ command }) => command.includes('--type=extensionHost'))) {
    if (Date.now() > deadline) throw new Error('An extension host outlives its window');
    await sleep(50);
  }
}

const installed = new Map<string, string>();

/**
 * @param inPlace the data folder lasts and may hold more extensions: install there, over an earlier
 * version
 */
function installExtensions(
  tree: ServerTree,
  extensions: readonly string[],
  home: string,
  dataDir: string,
  inPlace: boolean,
): void {
  if (inPlace) {
    install(tree, extensions, home, dataDir);
    return;
  }
  mkdirSync(dataDir, { recursive: true });
  cpSync(installedOnce(tree, extensions, home), join(dataDir, 'extensions'), { recursive: true });
}

function installedOnce(tree: ServerTree, extensions: readonly string[], home: string): string {
  const key = createHash('sha256')
    .update([tree.folder, ...extensions].join('\n'))
    .digest('hex')
    .slice(0, 16);
  const known = installed.get(key);
  if (known !== undefined) return known;
  const shared = process.env.PARLEY_TEST_RUN;
  const fresh = mkdtempSync(join(shared ?? tmpdir(), 'parley-vsix-'));
  if (shared === undefined) process.once('exit', () => rmSync(fresh, { recursive: true, force: true }));
  const done = shared === undefined ? fresh : join(shared, `installed-${key}`);
  if (done === fresh || !existsSync(done)) {
    install(tree, extensions, home, fresh);
    if (done !== fresh) takeName(fresh, done);
  }
  installed.set(key, join(done, 'extensions'));
  return join(done, 'extensions');
}

function takeName(fresh: string, done: string): void {
  try {
    renameSync(fresh, done);
  } catch (error) {
    if (!existsSync(done)) throw error;
  }
}

function install(tree: ServerTree, extensions: readonly string[], home: string, dataDir: string): void {
  const flags = extensions.flatMap((vsix) => ['--install-extension', vsix]);
  const run = spawnSync(
    tree.node,
    ['out/server-main.js', '--server-data-dir', dataDir, '--accept-server-license-terms', '--force', ...flags],
    { cwd: tree.folder, env: environment({ HOME: home }), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
  );
  if (run.status !== 0) throw new Error(`${extensions.join(', ')} not installed:\n${run.stdout}\n${run.stderr}`);
}

/**
 * Our environment without what npm, mocha or an outer VS Code put there; the Node of the project
 * comes first, as agents are found on the PATH.
 */
function environment(extra: ServerOptions['env']): Record<string, string> {
  const merged: Record<string, string | undefined> = {
    ...process.env,
    PATH: dirname(process.execPath) + delimiter + (process.env.PATH ?? ''),
    ...extra,
  };
  return Object.fromEntries(
    Object.entries(merged).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && !/^(VSCODE_(?!PATH)|ELECTRON_|NODE_OPTIONS$|npm_)/i.test(entry[0]),
    ),
  );
}
