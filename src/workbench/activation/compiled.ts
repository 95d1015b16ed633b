// Loads a bundle with the engine's cached code: compiling the product takes longer than the rest of
// its startup.
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { retryBusy } from '../../base/retryBusy';

export interface Loaded<T> {
  readonly exports: T;
  readonly wasCompiled: boolean;
  /**
   * Call it after the bundle's startup. Does nothing if a window has cached the code.
   * @throws Error of the file system
   */
  keep(): Promise<void>;
}

export interface CompiledPlace {
  readonly path: string;
  readonly folder: string;
}

/** The wrapper that Node puts around a module. */
const WRAPPER = Buffer.from(`(function(${['exports', 'require', 'module', '__filename', '__dirname'].join()}){`);
const WRAPPER_END = Buffer.from('\n})');
const HASH_BYTES = 32;
/** Code from a window that ran the bundle, including the functions that it called. */
const RUN_SUFFIX = '.bin';
/** Code compiled before any run, including the functions that run on load. */
const AHEAD_SUFFIX = '.ahead.bin';

/**
 * Loads a CommonJS bundle. Cached code must be undamaged and match the bundle and the engine.
 * @throws Error if the bundle can't be read, or what it throws
 */
export function loadCompiled<T>(place: CompiledPlace): Loaded<T> {
  const { path, folder } = place;
  const source = readWrapped(path);
  const name = nameOf(path);
  const ofRun = readCached(join(folder, name + RUN_SUFFIX), source);
  const cachedData = ofRun ?? readCached(join(folder, name + AHEAD_SUFFIX), source);
  const script = scriptOf(path, source, cachedData);
  const exports = run<T>(script, path, createRequire(path));
  const wasCompiled = cachedData !== undefined && script.cachedDataRejected !== true;
  const keep = async (): Promise<void> => {
    if (ofRun === undefined || !wasCompiled)
      await writeCached(folder, name + RUN_SUFFIX, source, script.createCachedData());
  };
  return { exports, wasCompiled, keep };
}

/**
 * Compiles a bundle in a thread unless its code is cached. @param program `compiler.ts`, bundled
 * @throws Error of the file system, or of the thread
 */
export async function compileAhead(program: string, place: CompiledPlace): Promise<void> {
  const name = nameOf(place.path);
  const cached = await readdir(place.folder).catch((): string[] => []);
  if (cached.includes(name + RUN_SUFFIX) || cached.includes(name + AHEAD_SUFFIX)) return;
  const thread = new Worker(program, { workerData: place });
  thread.unref();
  await new Promise<void>((resolve, reject) => {
    thread.once('error', reject);
    thread.once('exit', () => resolve());
  });
}

/**
 * Compiles a bundle and the functions that run on load, by loading it with a stand-in for VS Code.
 * Call it in a separate thread.
 * @throws Error of the file system
 */
export async function keepCompiled({ path, folder }: CompiledPlace): Promise<void> {
  const source = readWrapped(path);
  const script = scriptOf(path, source, undefined);
  const own = createRequire(path);
  try {
    run(script, path, (name) => (name === 'vscode' ? anything : own(name)));
  } catch {}
  await writeCached(folder, nameOf(path) + AHEAD_SUFFIX, source, script.createCachedData());
}

/** A value that can be read, called, constructed and extended, and always returns itself. */
const anything: object = new Proxy(class {}, {
  get: (target, name) => (name === 'prototype' ? target.prototype : typeof name === 'string' ? anything : undefined),
  apply: () => anything,
  construct: () => ({}),
});

function run<T>(script: Script, path: string, load: (name: string) => unknown): T {
  const module = { exports: {} as T };
  // Each source file of a bundle requires its own imports, and VS Code intercepts each call.
  const loaded = new Map<string, unknown>();
  const requireOnce = (name: string): unknown => {
    if (!loaded.has(name)) loaded.set(name, load(name));
    return loaded.get(name);
  };
  script.runInThisContext().call(module.exports, module.exports, requireOnce, module, path, dirname(path));
  return module.exports;
}

/** Reads into the wrapper, as copying megabytes takes as long as reading the whole cache. */
function readWrapped(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const wrapped = Buffer.allocUnsafeSlow(WRAPPER.length + size + WRAPPER_END.length);
    const end = WRAPPER.length + size;
    for (let at = WRAPPER.copy(wrapped); at < end; ) {
      const read = readSync(file, wrapped, at, end - at, null);
      if (read === 0) throw new Error(`${path} was cut while it was read`);
      at += read;
    }
    WRAPPER_END.copy(wrapped, end);
    return wrapped;
  } finally {
    closeSync(file);
  }
}

/** Returns a name for this version of bundle and engine, without reading the bundle. */
function nameOf(path: string): string {
  const { size, mtimeMs } = statSync(path);
  return `${size}-${Math.floor(mtimeMs)}-${process.versions.v8}-${process.arch}`;
}

function scriptOf(path: string, source: Buffer, cachedData: Buffer | undefined): Script {
  return new Script(source.toString(), {
    filename: path,
    columnOffset: -WRAPPER.length,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    cachedData,
  });
}

/** The engine detects neither damage nor another bundle of the same length. */
function readCached(path: string, source: Buffer): Buffer | undefined {
  let cached: Buffer;
  try {
    cached = readFileSync(path);
  } catch {
    return undefined;
  }
  const data = cached.subarray(HASH_BYTES);
  return hashOf(source, data).equals(cached.subarray(0, HASH_BYTES)) ? data : undefined;
}

async function writeCached(folder: string, name: string, source: Buffer, data: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true });
  const temporary = join(folder, `${name}.${randomUUID()}`);
  await writeFile(temporary, Buffer.concat([hashOf(source, data), data]));
  await retryBusy(() => rename(temporary, join(folder, name)));
  for (const other of await readdir(folder))
    if (!other.startsWith(name)) await rm(join(folder, other), { force: true });
}

function hashOf(source: Buffer, data: Uint8Array): Buffer {
  return createHash('sha256').update(source).update(data).digest();
}
