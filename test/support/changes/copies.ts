// The contents of a folder, and the differences between two copies, as `diff -r` prints them.
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the mode and the bytes (a character each) of all files but those of git, by path. */
export async function filesOf(folder: string, below = ''): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { name } of await readdir(join(folder, below), { withFileTypes: true })) {
    if (name === '.git') continue;
    const path = below === '' ? name : `${below}/${name}`;
    const full = join(folder, path);
    const at = await lstat(full);
    if (at.isDirectory()) for (const [inner, what] of await filesOf(folder, path)) found.set(inner, what);
    else if (at.isSymbolicLink()) found.set(path, `120000 ${Buffer.from(await readlink(full)).toString('latin1')}`);
    else if (at.isFile()) found.set(path, `${at.mode & 0o100 ? '100755' : '100644'} ${await readFile(full, 'latin1')}`);
  }
  return found;
}

export async function differenceOf(before: string, after: string): Promise<string[]> {
  const [one, two] = [await filesOf(before), await filesOf(after)];
  const lines: string[] = [];
  for (const path of new Set([...one.keys(), ...two.keys()])) {
    if (one.get(path) === two.get(path)) continue;
    lines.push(`${!one.has(path) ? 'new' : two.has(path) ? 'changed' : 'gone'} ${path}`);
  }
  return lines.sort();
}
