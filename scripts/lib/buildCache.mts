// What takes seconds to make of a file and is the same each time, kept by the file's content. A run of
// the tests makes the package several times, and most files are the same from one commit to the next.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What was not used for so long is removed, ms. */
const KEPT_MS = 14 * 24 * 60 * 60 * 1000;
/** Each kept file begins with the hash of what follows, in hex. */
const HASH_LENGTH = 64;

export class BuildCache {
  readonly #folder: string;
  readonly #how: string;

  /** @param how names the program, its version and its settings: others make something else of the same content */
  constructor(folder: string, how: string) {
    this.#folder = folder;
    this.#how = how;
  }

  /**
   * Gives what is made of a content: the kept bytes, if they are whole.
   * @param make makes it, with the same result each time
   */
  async of(content: Uint8Array | string, make: () => Promise<Uint8Array>): Promise<Buffer> {
    const path = join(this.#folder, hash(this.#how, '\n', content));
    const kept = await readFile(path).catch(() => Buffer.alloc(0));
    const made = kept.subarray(HASH_LENGTH);
    if (kept.length >= HASH_LENGTH && kept.toString('latin1', 0, HASH_LENGTH) === hash(made)) {
      const now = new Date();
      await utimes(path, now, now).catch(() => undefined);
      return made;
    }
    const fresh = Buffer.from(await make());
    await mkdir(this.#folder, { recursive: true });
    // Another build may run at the same time, and must not read half of a file.
    const temporary = `${path}.${process.pid}`;
    await writeFile(temporary, Buffer.concat([Buffer.from(hash(fresh)), fresh]));
    await rename(temporary, path);
    return fresh;
  }

  /** Removes what was not used for two weeks. */
  async prune(): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const path = join(this.#folder, name);
      const used = await stat(path).catch(() => undefined);
      if (used && Date.now() - used.mtimeMs > KEPT_MS) await rm(path, { force: true });
    }
  }
}

/** The cache of a package's program in the cache of this repository. @param settings as the program gets them */
export function buildCacheOf(cache: string, root: string, name: string, settings: unknown): BuildCache {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return new BuildCache(join(cache, 'build'), `${name} ${version} ${JSON.stringify(settings)}`);
}

function hash(...parts: readonly (Uint8Array | string)[]): string {
  const all = createHash('sha256');
  for (const part of parts) all.update(part);
  return all.digest('hex');
}
