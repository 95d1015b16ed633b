// The tree that names a state: the folder and each repository below it, side by side.
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { put } from './bareStore';
import { type Outside, writeOutside } from './outside';
import type { Store } from './storeRuns';

const compress = promisify(deflate);

/** The entry of the folder itself. Names of the others are encoded, and never contain this. */
const SELF = '=';
/** The file with what the state says of files that it does not have; absent: nothing. */
export const OUTSIDE = '=outside';

/**
 * Writes the tree of a state: a process of git for these few bytes would take longer than all the
 * rest where nothing has changed.
 * @param self the tree of the folder
 * @param nested the trees of repositories below it, by their path relative to the folder
 */
export async function writeState(
  store: Pick<Store, 'folder' | 'format'>,
  self: string,
  nested: ReadonlyMap<string, string>,
  outside: Outside,
): Promise<string> {
  const about = writeOutside(outside);
  const folders = [
    [SELF, self] as const,
    ...[...nested].map(([path, tree]) => [encodeURIComponent(path), tree] as const),
  ];
  // Git sorts folders as if their names ended with a slash.
  const entries = folders.map(([name, id]) => ({ name, sorted: `${name}/`, mode: '40000', id }));
  if (about.length > 0) {
    const id = await writeObject(store, 'blob', about);
    entries.push({ name: OUTSIDE, sorted: OUTSIDE, mode: '100644', id });
  }
  entries.sort((one, two) => (one.sorted < two.sorted ? -1 : 1));
  const content = entries.flatMap(({ mode, name, id }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]);
  return writeObject(store, 'tree', Buffer.concat(content));
}

/** Writes a loose object. @returns its id */
export async function writeObject(
  { folder, format }: Pick<Store, 'folder' | 'format'>,
  type: 'tree' | 'blob',
  content: Buffer,
): Promise<string> {
  const object = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const id = createHash(format).update(object).digest('hex');
  const below = join(folder, 'objects', id.slice(0, 2));
  const compressed = await compress(object);
  await mkdir(below, { recursive: true, mode: 0o700 });
  await put(join(below, id.slice(2)), compressed);
  return id;
}

/** The path relative to the folder of a path in such a tree. */
export function folderPath(path: string): string {
  const slash = path.indexOf('/');
  const owner = path.slice(0, slash);
  return owner === SELF ? path.slice(slash + 1) : `${decodeURIComponent(owner)}${path.slice(slash)}`;
}
