// Changes in a folder between two points in time: files with their versions before and after.
import type { Disposable } from '../../base/disposable';

export interface FileVersion {
  /** Id of the content in the folder's store; equal contents have equal ids. */
  readonly oid: string;
  readonly mode: '100644' | '100755' | '120000';
  readonly size: number;
  /** Too large: the store has only the hash. */
  readonly isHashOnly?: true;
}

export interface FileChange {
  readonly root: string;
  /** Relative to `root`, with forward slashes. */
  readonly path: string;
  readonly oldPath?: string;
  readonly before?: FileVersion;
  readonly after?: FileVersion;
  /** Lines; 0 if `isBinary`. */
  readonly added: number;
  readonly removed: number;
  /** No lines to compare: not text, a link, or too large. */
  readonly isBinary?: true;
  /**
   * The state without the file doesn't prove its absence: it was unread, or came from elsewhere.
   */
  readonly wasThere?: true;
}

export interface FolderTree {
  readonly root: string;
  readonly tree: string;
}

export interface Snapshot {
  readonly folders: readonly FolderTree[];
  readonly gaps: readonly SnapshotGap[];
}

export interface SnapshotGap {
  readonly root: string;
  /**
   * `no-git`: only files that tools name are known. `too-large`: the folder is too large without a
   * repository. `repositories`: there are more nested repositories than are read. `timeout` and
   * `failed`: the folder could not be read.
   */
  readonly why: 'no-git' | 'too-large' | 'repositories' | 'timeout' | 'failed';
}

export interface WorkingFile {
  /** Unsaved text of a document takes precedence over the disk. */
  readonly content: Buffer;
  readonly mode: FileVersion['mode'];
  readonly isDirty: boolean;
}

export interface FileEdit {
  readonly path: string;
  /** Absolute; the edit is refused if a link leads out of it. */
  readonly root: string;
  /** Refused unless the file has this content; undefined: does not exist. */
  readonly expected: Buffer | undefined;
  /** Absent: delete it. */
  readonly content?: Buffer;
  readonly mode?: FileVersion['mode'];
}

export interface WorkingFiles {
  read(path: string): Promise<WorkingFile | undefined>;
  /**
   * Makes all edits as one step of the editor's Undo, and saves files that were saved before.
   * Deletes first, with folders that become empty. Replaces links, not their targets. Returns the
   * refused paths.
   */
  apply(edits: readonly FileEdit[], label: string): Promise<readonly string[]>;
}

export interface FolderStates extends Disposable {
  readonly roots: readonly string[];
  /** Waiting calls share one scan. Never throws: see `gaps`. */
  take(signal?: AbortSignal): Promise<Snapshot>;
  /** Change time of the newest scanned file, ms since 1970; 0 if none, or without git. */
  readonly newestRead: number;
  /** Sorted by root and path, with renames. Throws ParleyError `state-gone`. */
  changes(before: Snapshot, after: Snapshot, signal?: AbortSignal): Promise<readonly FileChange[]>;
  /** Takes `files` (absolute paths) from `other`. Throws ParleyError `state-gone`. */
  replaced(snapshot: Snapshot, other: Snapshot, files: readonly string[]): Promise<Snapshot>;
  /** @throws ParleyError `state-gone`; `version-not-kept` if only its hash is known */
  read(root: string, version: FileVersion): Promise<Buffer>;
  /** The content stays as long as the session holds states. */
  write(root: string, content: Buffer, mode: FileVersion['mode']): Promise<FileVersion>;
  /** Without git, only files named here are recorded. */
  name(path: string): void;
  /** Until it is released or replaced. Unheld states may be removed after a day. */
  hold(snapshot: Snapshot, name: string): Promise<void>;
  /** Without `name`: all of the session. */
  release(name?: string): Promise<void>;
  dispose(): void;
}

export interface StateRetention {
  release(session: string): Promise<void>;
  /**
   * Releases all but `sessions`, and packs the stores. Above `maxBytes`, also releases sessions
   * from the end of the list. Never throws.
   * @param sessions most recently used first
   */
  collect(sessions: readonly string[], maxBytes: number, signal?: AbortSignal): Promise<void>;
}
