// A bare git repository of our own that stores the states of one folder.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disposable } from '../../base/disposable';
import { retryBusy } from '../../base/retryBusy';
import { succeeds } from '../../base/within';
import type { FileChange, FileVersion } from '../model/fileChange';

/** Files are stored byte by byte. `working-tree-encoding` can't be turned off, only unset. */
const ATTRIBUTES = '* -text !eol !crlf !filter !ident !working-tree-encoding !diff !merge\n';

export type ObjectFormat = 'sha1' | 'sha256';

export async function makeBareStore(folder: string, format: ObjectFormat): Promise<void> {
  const folders = ['objects/pack', 'objects/info', 'refs', 'info', 'large', 'indexes'];
  await Promise.all(folders.map((name) => mkdir(join(folder, name), { recursive: true, mode: 0o700 })));
  const files = { HEAD: 'ref:refs/heads/none\n', config: configOf(format), 'info/attributes': ATTRIBUTES };
  await Promise.all(Object.entries(files).map(([name, text]) => put(join(folder, name), Buffer.from(text))));
}

function configOf(format: ObjectFormat): string {
  return `[core]
\trepositoryformatversion = ${format === 'sha1' ? 0 : 1}
\tbare = false
\tautocrlf = false
\tsafecrlf = false
\tfsmonitor = false
\tuntrackedCache = false
\tsplitIndex = false
\thooksPath = /dev/null
\tlongpaths = true
\tprotectNTFS = false
\tprotectHFS = false
\tlogAllRefUpdates = false
\tfsync = none
[index]
\tversion = 2
\tsparse = false
[gc]
\tauto = 0
${format === 'sha1' ? '' : '[extensions]\n\tobjectFormat = sha256\n'}`;
}

/** Atomic, because other windows may be reading. Existing content only gets a new time. */
export async function put(path: string, content: Buffer): Promise<void> {
  const present = await readFile(path).catch(() => undefined);
  if (present?.equals(content)) {
    const now = new Date();
    const exists = await succeeds(utimes(path, now, now));
    if (exists) return;
  }
  const temporary = `${path}.${randomUUID()}`;
  try {
    await writeFile(temporary, content, { mode: 0o600 });
    await retryBusy(() => rename(temporary, path));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

export interface StoredFolder {
  readonly store: string;
  readonly isNamedOnly: boolean;
  readonly hasUnreadRepositories: boolean;
  readonly newestRead: number;
  /**
   * Returns the state's name. Throws ParleyError `folder-too-large`, `git-…`; the reason of
   * `signal`.
   */
  take(signal?: AbortSignal): Promise<string>;
  changes(root: string, before: string, after: string, signal?: AbortSignal): Promise<readonly FileChange[]>;
  /** Returns a state with some files as they are in another. Throws ParleyError `state-gone`. */
  replaced(state: string, other: string, files: ReadonlySet<string>): Promise<string>;
  /** @throws ParleyError `state-gone` */
  read(version: FileVersion): Promise<Buffer>;
  write(content: Buffer, mode: FileVersion['mode']): Promise<FileVersion>;
  name(path: string): void;
  collect(signal?: AbortSignal): Promise<void>;
}

export interface OpenFolder extends Disposable {
  readonly folder: StoredFolder;
}
