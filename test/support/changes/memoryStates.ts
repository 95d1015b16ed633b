// States of folders in memory: the contents of all files below a folder, read from the disk.
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ParleyError } from '../../../src/base/errors';
import { countOf, hunks } from '../../../src/changes/lines/hunks';
import type { FileChange, FileVersion, FolderStates, Snapshot } from '../../../src/changes/model/fileChange';

type Tree = ReadonlyMap<string, FileVersion>;

export class MemoryStates implements FolderStates {
  readonly roots: readonly string[];
  readonly newestRead = 0;
  readonly #contents = new Map<string, Buffer>();
  readonly #trees = new Map<string, Tree>();

  constructor(roots: readonly string[]) {
    this.roots = roots;
  }

  async take(): Promise<Snapshot> {
    const folders = await Promise.all(
      this.roots.map(async (root) => {
        const files = new Map<string, FileVersion>();
        await this.#scan(root, '', files);
        return { root, tree: this.#keep(files) };
      }),
    );
    return { folders, gaps: [] };
  }

  async changes(before: Snapshot, after: Snapshot): Promise<readonly FileChange[]> {
    const all = await Promise.all(
      after.folders.map(({ root, tree }) =>
        this.#changesIn(root, this.#tree(before.folders.find((one) => one.root === root)?.tree), this.#tree(tree)),
      ),
    );
    return all.flat();
  }

  async read(_root: string, version: FileVersion): Promise<Buffer> {
    if (version.isHashOnly) throw new ParleyError('version-not-kept', 'Too large');
    const found = this.#contents.get(version.oid);
    if (!found) throw new ParleyError('state-gone', 'Gone');
    return found;
  }

  async write(_root: string, content: Buffer, mode: FileVersion['mode']): Promise<FileVersion> {
    const oid = sha(content);
    this.#contents.set(oid, content);
    return { oid, mode, size: content.length };
  }

  async replaced(snapshot: Snapshot, other: Snapshot, files: readonly string[]): Promise<Snapshot> {
    const folders = snapshot.folders.map(({ root, tree }) => {
      const from = this.#tree(other.folders.find((one) => one.root === root)?.tree);
      const made = new Map(this.#tree(tree));
      for (const file of files) {
        const path = relative(root, file);
        const version = from.get(path);
        if (version) made.set(path, version);
        else made.delete(path);
      }
      return { root, tree: this.#keep(made) };
    });
    return { folders, gaps: [] };
  }

  name(): void {}

  async hold(): Promise<void> {}

  async release(): Promise<void> {}

  dispose(): void {}

  #keep(files: Tree): string {
    const tree = sha(Buffer.from(JSON.stringify([...files].sort())));
    this.#trees.set(tree, files);
    return tree;
  }

  #tree(name: string | undefined): Tree {
    const found = this.#trees.get(name ?? '');
    if (!found) throw new ParleyError('state-gone', 'Gone');
    return found;
  }

  async #scan(root: string, folder: string, files: Map<string, FileVersion>): Promise<void> {
    for (const name of (await readdir(join(root, folder))).sort()) {
      const path = folder === '' ? name : `${folder}/${name}`;
      const found = await lstat(join(root, path));
      if (path === '.git') continue;
      if (found.isDirectory()) await this.#scan(root, path, files);
      else if (found.isSymbolicLink()) {
        files.set(path, await this.write(root, Buffer.from(await readlink(join(root, path))), '120000'));
      } else {
        const mode = (found.mode & 0o100) === 0 ? '100644' : '100755';
        files.set(path, await this.write(root, await readFile(join(root, path)), mode));
      }
    }
  }

  async #changesIn(root: string, before: Tree, after: Tree): Promise<FileChange[]> {
    const deleted = [...before].filter(([path]) => !after.has(path));
    const changes: FileChange[] = [];
    for (const [path, version] of after) {
      let old = before.get(path);
      let oldPath: string | undefined;
      if (!old && version.size > 0) {
        const at = deleted.findIndex(([, one]) => one.oid === version.oid);
        if (at >= 0) [[oldPath, old]] = deleted.splice(at, 1) as [[string, FileVersion]];
      }
      if (old?.oid === version.oid && old.mode === version.mode && oldPath === undefined) continue;
      changes.push(await this.#change({ root, path, ...(oldPath !== undefined && { oldPath }) }, old, version));
    }
    for (const [path, version] of deleted) changes.push(await this.#change({ root, path }, version, undefined));
    return changes.sort((one, two) => (one.path < two.path ? -1 : 1));
  }

  async #change(
    at: Pick<FileChange, 'root' | 'path' | 'oldPath'>,
    before: FileVersion | undefined,
    after: FileVersion | undefined,
  ): Promise<FileChange> {
    const isLink = before?.mode === '120000' || after?.mode === '120000';
    const read = (version: FileVersion | undefined): Buffer =>
      (version && this.#contents.get(version.oid)) ?? Buffer.alloc(0);
    const found = isLink ? undefined : await hunks(read(before), read(after));
    return {
      ...at,
      ...(before && { before }),
      ...(after && { after }),
      ...(found ? countOf(found) : { added: 0, removed: 0, isBinary: true as const }),
    };
  }
}

function sha(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}
