// The files of the user without an editor: all there is, is on the disk.
import * as fs from 'node:fs/promises';
import { chmod, lstat, mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FileEdit, WorkingFile, WorkingFiles } from '../../../src/changes/model/fileChange';
import { removeEmptyFolders } from '../../../src/changes/restore/disk';

export class NodeFiles implements WorkingFiles {
  readonly steps: (readonly FileEdit[])[] = [];
  readonly dirty = new Set<string>();
  beforeApply: (() => Promise<void>) | undefined;

  async read(path: string): Promise<WorkingFile | undefined> {
    const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw error;
    });
    if (!found || found.isDirectory()) return undefined;
    const isDirty = this.dirty.has(path);
    if (found.isSymbolicLink()) return { content: Buffer.from(await readlink(path)), mode: '120000', isDirty };
    return { content: await readFile(path), mode: (found.mode & 0o100) === 0 ? '100644' : '100755', isDirty };
  }

  async apply(edits: readonly FileEdit[]): Promise<readonly string[]> {
    await this.beforeApply?.();
    this.steps.push(edits);
    const refused: string[] = [];
    const ordered = [...edits].sort(
      (one, two) => Number(one.content !== undefined) - Number(two.content !== undefined),
    );
    for (const { path, root, expected, content, mode } of ordered) {
      const now = await this.read(path);
      const isExpected = now && expected ? now.content.equals(expected) : !now && !expected;
      if (!isExpected) refused.push(path);
      else if (!content) {
        await rm(path);
        await removeEmptyFolders(fs, root, dirname(path));
      } else {
        const next = mode ?? now?.mode ?? '100644';
        if (next === '120000' || now?.mode === '120000') await rm(path, { force: true });
        await mkdir(dirname(path), { recursive: true });
        if (next === '120000') await symlink(content.toString(), path);
        else {
          await writeFile(path, content);
          await chmod(path, next === '100755' ? 0o755 : 0o644);
        }
      }
    }
    return refused;
  }
}
