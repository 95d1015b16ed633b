// Loads a bundle together with what the engine compiled of it in an earlier window: to compile the
// product takes longer than all else of its start.
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';
import { retryBusy } from '../../base/retryBusy';

/** A bundle that was loaded. */
export interface Loaded<T> {
  readonly exports: T;
  /** What was compiled in an earlier window was of use. */
  readonly wasCompiled: boolean;
  /**
   * Keeps what the engine has compiled by now for the next window, in place of that of other
   * versions. Does nothing where that is there already. Call it when the bundle has done what it
   * does at its start.
   * @throws Error of the file system
   */
  keep(): Promise<void>;
}

/** As Node wraps a module. */
const WRAPPER = `(function(${['exports', 'require', 'module', '__filename', '__dirname'].join()}){`;
/** Bytes of the hash before the code. */
const HASH_BYTES = 32;

/**
 * Loads a CommonJS bundle, as `require` does. Code that was kept counts only for this very bundle
 * and engine, and where every byte of it is as it was written.
 * @param path of the bundle, absolute
 * @param folder for compiled code; need not exist
 * @throws Error that the bundle cannot be read, or what it throws
 */
export function loadCompiled<T>(path: string, folder: string): Loaded<T> {
  const source = readFileSync(path);
  const ofBundle = createHash('sha256').update(source).digest('hex').slice(0, 32);
  const name = `${ofBundle}-${process.versions.v8}-${process.arch}.bin`;
  const cachedData = readKept(join(folder, name));
  const script = new Script(`${WRAPPER}${source.toString('utf8')}\n})`, {
    filename: path,
    columnOffset: -WRAPPER.length,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData && { cachedData }),
  });
  const module = { exports: {} as T };
  script.runInThisContext().call(module.exports, module.exports, createRequire(path), module, path, dirname(path));
  const wasCompiled = cachedData !== undefined && script.cachedDataRejected !== true;
  const keep = async (): Promise<void> => {
    if (!wasCompiled) await keepOnly(folder, name, script.createCachedData());
  };
  return { exports: module.exports, wasCompiled, keep };
}

/** The engine itself does not notice damage, and would run it. */
function readKept(path: string): Buffer | undefined {
  let kept: Buffer;
  try {
    kept = readFileSync(path);
  } catch {
    return undefined;
  }
  const data = kept.subarray(HASH_BYTES);
  return hashOf(data).equals(kept.subarray(0, HASH_BYTES)) ? data : undefined;
}

async function keepOnly(folder: string, name: string, data: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true });
  const temporary = join(folder, `${name}.${randomUUID()}`);
  await writeFile(temporary, Buffer.concat([hashOf(data), data]));
  await retryBusy(() => rename(temporary, join(folder, name)));
  for (const other of await readdir(folder))
    if (!other.startsWith(name)) await rm(join(folder, other), { force: true });
}

function hashOf(data: Uint8Array): Buffer {
  return createHash('sha256').update(data).digest();
}
