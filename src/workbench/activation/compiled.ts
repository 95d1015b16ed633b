// Loads a bundle together with what the engine compiled of it earlier: to compile the product takes
// longer than all else of its start.
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
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
   * Stores the compiled code for the next window, unless a window has done so. Call it after the
   * bundle's start.
   * @throws Error of the file system
   */
  keep(): Promise<void>;
}

export interface CompiledPlace {
  readonly path: string;
  readonly folder: string;
}

/** As Node wraps a module. */
const WRAPPER = `(function(${['exports', 'require', 'module', '__filename', '__dirname'].join()}){`;
const HASH_BYTES = 32;
/** Of a window that has run the bundle: includes the functions that it called. */
const RUN = '.bin';
/** Made before any window has run the bundle: includes the functions that run as it is loaded. */
const AHEAD = '.ahead.bin';

/**
 * Loads a CommonJS bundle. Stored code must be undamaged and of the same bundle and engine.
 * @throws Error that the bundle can't be read, or what it throws
 */
export function loadCompiled<T>(place: CompiledPlace): Loaded<T> {
  const { path, folder } = place;
  const source = readFileSync(path);
  const name = nameOf(path);
  const ofRun = readKept(join(folder, name + RUN), source);
  const cachedData = ofRun ?? readKept(join(folder, name + AHEAD), source);
  const script = scriptOf(path, source, cachedData);
  const exports = run<T>(script, path, createRequire(path));
  const wasCompiled = cachedData !== undefined && script.cachedDataRejected !== true;
  const keep = async (): Promise<void> => {
    if (ofRun === undefined || !wasCompiled) await keepOnly(folder, name + RUN, source, script.createCachedData());
  };
  return { exports, wasCompiled, keep };
}

/**
 * Compiles a bundle in a thread unless its code is stored.
 * @param program the bundle of `compiler.ts`
 * @throws Error of the file system, or of the thread
 */
export async function compileAhead(program: string, place: CompiledPlace): Promise<void> {
  const name = nameOf(place.path);
  const kept = await readdir(place.folder).catch((): string[] => []);
  if (kept.includes(name + RUN) || kept.includes(name + AHEAD)) return;
  const thread = new Worker(program, { workerData: place });
  thread.unref();
  await new Promise<void>((resolve, reject) => {
    thread.once('error', reject);
    thread.once('exit', () => resolve());
  });
}

/**
 * Compiles a bundle, and the functions that run as it is loaded: for that, it is loaded with a
 * stand-in for VS Code. Call it in a separate thread.
 * @throws Error of the file system
 */
export async function keepCompiled({ path, folder }: CompiledPlace): Promise<void> {
  const source = readFileSync(path);
  const script = scriptOf(path, source, undefined);
  const own = createRequire(path);
  try {
    run(script, path, (name) => (name === 'vscode' ? anything : own(name)));
  } catch {
    // What was compiled until then is of use too.
  }
  await keepOnly(folder, nameOf(path) + AHEAD, source, script.createCachedData());
}

/** Can be read, called, constructed and extended, and gives itself. */
const anything: object = new Proxy(class {}, {
  get: (target, name) => (name === 'prototype' ? target.prototype : typeof name === 'string' ? anything : undefined),
  apply: () => anything,
  construct: () => ({}),
});

function run<T>(script: Script, path: string, require: (name: string) => unknown): T {
  const module = { exports: {} as T };
  script.runInThisContext().call(module.exports, module.exports, require, module, path, dirname(path));
  return module.exports;
}

/** Differs for each version of bundle and engine, without reading the bundle. */
function nameOf(path: string): string {
  const { size, mtimeMs } = statSync(path);
  return `${size}-${Math.floor(mtimeMs)}-${process.versions.v8}-${process.arch}`;
}

function scriptOf(path: string, source: Buffer, cachedData: Buffer | undefined): Script {
  // As bytes: as text, the heap would have the bundle twice.
  const code = Buffer.concat([Buffer.from(WRAPPER), source, Buffer.from('\n})')]).toString();
  return new Script(code, {
    filename: path,
    columnOffset: -WRAPPER.length,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    cachedData,
  });
}

/** The engine notices neither damage nor another bundle of the same length. */
function readKept(path: string, source: Buffer): Buffer | undefined {
  let kept: Buffer;
  try {
    kept = readFileSync(path);
  } catch {
    return undefined;
  }
  const data = kept.subarray(HASH_BYTES);
  return hashOf(source, data).equals(kept.subarray(0, HASH_BYTES)) ? data : undefined;
}

async function keepOnly(folder: string, name: string, source: Buffer, data: Buffer): Promise<void> {
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
