// What changed in a folder between two points in time: files with their versions before and after.
import type { Disposable } from '../../base/disposable';

export interface FileVersion {
  /** Names the content in the store of its folder; the same content has the same id. */
  readonly oid: string;
  /** File, executable file, symbolic link. */
  readonly mode: '100644' | '100755' | '120000';
  readonly size: number;
  /** The file is too large to be kept: the store has only the hash. */
  readonly isHashOnly?: true;
}

export interface FileChange {
  readonly root: string;
  /** Relative to `root`, with forward slashes. */
  readonly path: string;
  readonly oldPath?: string;
  readonly before?: FileVersion;
  readonly after?: FileVersion;
  /** Lines; 0 where `isBinary`. */
  readonly added: number;
  readonly removed: number;
  /** There are no lines to compare: not text, a link, or too large. */
  readonly isBinary?: true;
  /**
   * The state without the file does not say that there was none, if it is the earlier one: the file
   * was ignored then, could not be read, or is older than that state and came from elsewhere.
   */
  readonly wasThere?: true;
}

export interface FolderTree {
  readonly root: string;
  readonly tree: string;
}

export interface Snapshot {
  readonly folders: readonly FolderTree[];
  /** What the snapshot lacks. */
  readonly gaps: readonly SnapshotGap[];
}

export interface SnapshotGap {
  readonly root: string;
  /**
   * `no-git`: only files that tools name are known. `too-large`: the folder is too large without a
   * repository. `repositories`: there are more repositories below the folder than are read. `timeout`
   * and `failed`: the folder could not be read.
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
  /** The edit is refused unless the file has this content; undefined: does not exist. */
  readonly expected: Buffer | undefined;
  /** Absent: delete it. */
  readonly content?: Buffer;
  readonly mode?: FileVersion['mode'];
}

export interface WorkingFiles {
  read(path: string): Promise<WorkingFile | undefined>;
  /**
   * Makes all edits as one step of the editor's Undo, and saves files that were saved before.
   * Deletes first, with folders that become empty. Replaces links, not their targets.
   * @returns the paths that were refused: changed meanwhile, or not writable
   */
  apply(edits: readonly FileEdit[], label: string): Promise<readonly string[]>;
}

export interface FolderStates extends Disposable {
  readonly roots: readonly string[];
  /**
   * Reads the present state from the disk. Waiting calls share one scan. Never throws: see `gaps`.
   */
  take(signal?: AbortSignal): Promise<Snapshot>;
  /** Change time of the newest file read in scans, ms since 1970; 0: none, or no git. */
  readonly newestRead: number;
  /** Returns changes sorted by root and path, with renames. @throws ParleyError `state-gone` */
  changes(before: Snapshot, after: Snapshot, signal?: AbortSignal): Promise<readonly FileChange[]>;
  /**
   * Returns a state with some files (absolute paths) as they are in another.
   * @throws ParleyError `state-gone`
   */
  replaced(snapshot: Snapshot, other: Snapshot, files: readonly string[]): Promise<Snapshot>;
  /** @throws ParleyError `state-gone`; `version-not-kept` if only its hash is known */
  read(root: string, version: FileVersion): Promise<Buffer>;
  /** Keeps a content as long as the session holds states. */
  write(root: string, content: Buffer, mode: FileVersion['mode']): Promise<FileVersion>;
  /** Without git, only files named here are looked at. */
  name(path: string): void;
  /**
   * Holds a state under a name until it is released, replacing the one before. Unheld states may be
   * gone after a day.
   */
  hold(snapshot: Snapshot, name: string): Promise<void>;
  /** Releases one state, or all of the session. */
  release(name?: string): Promise<void>;
  dispose(): void;
}

export interface StateRetention {
  release(session: string): Promise<void>;
  /**
   * Releases other sessions, and packs the stores. If more than `maxBytes` are held, sessions are
   * released from the end of the list. Never throws.
   * @param sessions keys, most recently used first
   */
  collect(sessions: readonly string[], maxBytes: number, signal?: AbortSignal): Promise<void>;
}
