// A real VS Code without a download of the desktop: the npm package `code-server` holds the VS Code
// server with its web workbench. It is installed from the manifest and lock in `newest/` or
// `minimum/` into the cache, once, because its own install scripts compile and its dependencies
// have no business in the project's tree.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isAlive } from './processTree';
import { cacheFolder, repository } from './repository';

/**
 * The VS Code versions that Parley is tested on: the newest one and the one that `engines.vscode`
 * names.
 */
export type VsCodeVersion = 'newest' | 'minimum';

const MANIFEST = ['package.json', 'package-lock.json'];
/**
 * The lock of the dependencies of the VS Code server inside of it: its own does not fit its
 * manifest, which `npm ci` refuses.
 */
const SERVER_LOCK = 'vscode.package-lock.json';

const LONGEST_INSTALL_MS = 15 * 60_000;

export interface ServerTree {
  readonly folder: string;
  /** The Node that this version wants. */
  readonly node: string;
}

/**
 * The installed server, which is installed first where it is missing.
 * @throws Error with npm's output if the installation fails twice
 */
export async function serverTree(version: VsCodeVersion, say: (line: string) => void): Promise<ServerTree> {
  const manifests = join(repository, 'test/support/vscode', version);
  const hash = createHash('sha256');
  for (const name of [...MANIFEST, SERVER_LOCK]) hash.update(readFileSync(join(manifests, name)));
  hash.update(`${process.platform}-${process.arch}-${process.versions.modules} without telemetry`);
  const target = join(cacheFolder, 'vscode', `${version}-${hash.digest('hex').slice(0, 12)}`);
  const tree: ServerTree = {
    folder: join(target, 'node_modules/code-server/lib/vscode'),
    node: version === 'newest' ? process.execPath : join(target, 'node_modules/node/bin/node'),
  };
  // The folder gets its name only when it is complete, so its existence is the stamp.
  if (existsSync(target)) return tree;
  mkdirSync(join(cacheFolder, 'vscode'), { recursive: true });
  const release = await takeLock(`${target}.lock`);
  try {
    if (existsSync(target)) return tree;
    say(`Installing VS Code (${version}) into ${target} …`);
    try {
      await install(manifests, version, target);
    } catch (error) {
      say(`That failed (${firstLine(error)}); once more …`);
      await install(manifests, version, target);
    }
    return tree;
  } finally {
    release();
  }
}

/**
 * Returns the folder with `tsserver.js`, for the setting `typescript.tsdk`; installed first where
 * it is missing.
 * @throws Error with npm's output
 */
export async function typescriptFolder(): Promise<string> {
  const manifests = join(repository, 'test/support/vscode/typescript');
  const hash = createHash('sha256');
  for (const name of MANIFEST) hash.update(readFileSync(join(manifests, name)));
  const target = join(cacheFolder, 'vscode', `typescript-${hash.digest('hex').slice(0, 12)}`);
  const folder = join(target, 'node_modules/typescript/lib');
  if (existsSync(target)) return folder;
  mkdirSync(join(cacheFolder, 'vscode'), { recursive: true });
  const release = await takeLock(`${target}.lock`);
  const temporary = `${target}.${process.pid}`;
  try {
    if (existsSync(target)) return folder;
    mkdirSync(temporary, { recursive: true });
    for (const name of MANIFEST) copyFileSync(join(manifests, name), join(temporary, name));
    await npm(temporary, 'ci', '--ignore-scripts');
    renameSync(temporary, target);
    return folder;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
    release();
  }
}

async function install(manifests: string, version: VsCodeVersion, target: string): Promise<void> {
  const temporary = `${target}.${process.pid}`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  try {
    for (const name of MANIFEST) copyFileSync(join(manifests, name), join(temporary, name));
    await npm(temporary, 'ci', '--ignore-scripts');
    if (version === 'minimum') {
      // The package `node` fetches the binary for this machine in its install script, the only one
      // that is wanted.
      await npm(temporary, 'rebuild', 'node', '--ignore-scripts=false');
    }
    const server = join(temporary, 'node_modules/code-server/lib/vscode');
    replaceGitDependency(join(server, 'package.json'));
    copyFileSync(join(manifests, SERVER_LOCK), join(server, 'npm-shrinkwrap.json'));
    await npm(server, 'ci', '--omit=dev', '--ignore-scripts');
    endTelemetry(join(server, 'product.json'));
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/**
 * 1.106 takes `@parcel/watcher` from a git address, which npm cannot reach everywhere; the registry
 * has the same as 2.5.6.
 */
function replaceGitDependency(manifest: string): void {
  const text = readFileSync(manifest, 'utf8');
  writeFileSync(manifest, text.replace(/"@parcel\/watcher": "parcel-bundler[^"]*"/, '"@parcel/watcher": "2.5.6"'));
}

/**
 * Neither the option of the server nor the settings of the machine keep the built-in extensions
 * from sending, and each attempt holds up the extension host for 50 ms and more.
 */
function endTelemetry(product: string): void {
  const facts = JSON.parse(readFileSync(product, 'utf8')) as Record<string, unknown>;
  writeFileSync(product, JSON.stringify({ ...facts, enableTelemetry: false }, null, 2));
}

function npm(cwd: string, ...args: readonly string[]): Promise<void> {
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  return new Promise((resolve, reject) => {
    // npm hands its own settings to scripts as npm_config_*; those of an outer `npm ci` or
    // `npm test` must not reach this one.
    const env = Object.fromEntries(
      Object.entries(process.env).filter(
        ([key]) => !/^npm_(config_(?!.*(registry|cache|proxy|userconfig|cafile))|lifecycle|package|command)/i.test(key),
      ),
    );
    const child = spawn('npm', [...args, ...quiet], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    let output = '';
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    child.stderr.on('data', (data: Buffer) => (output += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`npm ${args.join(' ')} ended with ${code} in ${cwd}\n${output.slice(0, 4000)}`));
    });
  });
}

async function takeLock(path: string): Promise<() => void> {
  for (const deadline = Date.now() + LONGEST_INSTALL_MS; Date.now() < deadline; ) {
    try {
      mkdirSync(path);
      writeFileSync(join(path, 'pid'), String(process.pid));
      return () => rmSync(path, { recursive: true, force: true });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    if (isAbandoned(path)) rmSync(path, { recursive: true, force: true });
    else await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`another run holds ${path} and does not let go of it`);
}

function isAbandoned(path: string): boolean {
  try {
    return !isAlive(Number(readFileSync(join(path, 'pid'), 'utf8')));
  } catch {
    // The owner has made the folder and not yet written its id, or has just let go.
    try {
      return Date.now() - statSync(path).mtimeMs > 10_000;
    } catch {
      return false;
    }
  }
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? '';
}
