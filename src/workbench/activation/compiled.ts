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

/** A bundle that was loaded. */
export interface Loaded<T> {
  readonly exports: T;
  /** What was compiled earlier was of use. */
  readonly wasCompiled: boolean;
  /**
   * Keeps what the engine has compiled by now for the next window, in place of that of other
   * versions. Does nothing where a window has kept it already. Call it when the bundle has done what
   * it does at its start.
   * @throws Error of the file system
   */
  keep(): Promise<void>;
}

/** A bundle, and where its compiled code is kept. */
export interface CompiledPlace {
  /** Of the bundle, absolute. */
  readonly path: string;
  /** For compiled code; need not exist. */
  readonly folder: string;
}

/** As Node wraps a module. */
const WRAPPER = `(function(${['exports', 'require', 'module', '__filename', '__dirname'].join()}){`;
/** Bytes of the hash before the code. */
const HASH_BYTES = 32;
/** Of a window that has run the bundle: with the functions that it called. */
const RUN = '.bin';
/** Compiled before the bundle was run in any window. */
const AHEAD = '.ahead.bin';

/**
 * Loads a CommonJS bundle, as `require` does. Code that was kept counts only for this very bundle
 * and engine, and where every byte of it is as it was written.
 * @throws Error that the bundle cannot be read, or what it throws
 */
export function loadCompiled<T>(place: CompiledPlace): Loaded<T> {
  const { path, folder } = place;
  const source = readFileSync(path);
  const name = nameOf(path);
  const run = readKept(join(folder, name + RUN), source);
  const cachedData = run ?? readKept(join(folder, name + AHEAD), source);
  const script = scriptOf(path, source, cachedData);
  const module = { exports: {} as T };
  script.runInThisContext().call(module.exports, module.exports, createRequire(path), module, path, dirname(path));
  const wasCompiled = cachedData !== undefined && script.cachedDataRejected !== true;
  const keep = async (): Promise<void> => {
    if (run === undefined || !wasCompiled) await keepOnly(folder, name + RUN, source, script.createCachedData());
  };
  return { exports: module.exports, wasCompiled, keep };
}

/**
 * Compiles a bundle in a thread of its own where no code of it is kept.
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

/** Compiles a bundle without running it, and keeps the code. @throws Error of the file system */
export async function keepCompiled({ path, folder }: CompiledPlace): Promise<void> {
  const source = readFileSync(path);
  await keepOnly(folder, nameOf(path) + AHEAD, source, scriptOf(path, source, undefined).createCachedData());
}

/** Differs for each version of a bundle and of the engine, without a look into the bundle. */
function nameOf(path: string): string {
  const { size, mtimeMs } = statSync(path);
  return `${size}-${Math.floor(mtimeMs)}-${process.versions.v8}-${process.arch}`;
}

function scriptOf(path: string, source: Buffer, cachedData: Buffer | undefined): Script {
  // Put together as bytes: as text, the heap would have the bundle twice until it is next cleaned.
  const code = Buffer.concat([Buffer.from(WRAPPER), source, Buffer.from('\n})')]).toString();
  return new Script(code, {
    filename: path,
    columnOffset: -WRAPPER.length,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    cachedData,
  });
}

/** The engine itself notices neither damage nor another bundle of the same length, and would run it. */
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
