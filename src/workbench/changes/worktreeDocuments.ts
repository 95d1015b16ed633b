// Files of worktrees and their original folders as read-only documents. Both sides of a comparison
// have the same path, so that VS Code shows neither a rename nor a long path.
import { join } from 'node:path';
import { type FileStat, FileSystemError, Uri } from 'vscode';
import { isSafePath } from '../../changes/review/reviewFile';
import type { Worktree } from '../../changes/worktree/worktreeEntry';
import { asUtf8, DocumentFiles, documentStat } from '../editor/documentFiles';
import { type DiskFile, readDiskFile } from './documents/diskFiles';

const SCHEME = 'parley-worktree';

export class WorktreeDocuments extends DocumentFiles {
  readonly #worktrees: { list(): Promise<readonly Worktree[]> };

  constructor(worktrees: { list(): Promise<readonly Worktree[]> }) {
    super(SCHEME);
    this.#worktrees = worktrees;
  }

  async stat(uri: Uri): Promise<FileStat> {
    return documentStat((await this.#read(uri)).content.length, Date.now());
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    return asUtf8(join(uri.query, uri.path), (await this.#read(uri)).content);
  }

  async #read(uri: Uri): Promise<DiskFile> {
    const { path, query: root } = uri;
    const roots = (await this.#worktrees.list()).flatMap(({ folder, cwd, place }) => [folder, cwd, place]);
    const isOurs = roots.includes(root) && (await isSafePath(root, path.slice(1)));
    const file = isOurs ? await readDiskFile(join(root, path)) : undefined;
    if (!file) throw FileSystemError.FileNotFound(uri);
    return file;
  }
}

/** @param root absolute path of the folder @param path relative, with forward slashes */
export function worktreeUri(root: string, path: string): Uri {
  return Uri.from({ scheme: SCHEME, path: `/${path}`, query: root });
}
