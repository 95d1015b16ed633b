// What changed in a folder between two points in time: files with their versions before and after.

/** The content of a file at one time. */
export interface FileVersion {
  /** Names the content in the store of its folder; the same content has the same id. */
  readonly oid: string;
  /** As in git: a file, an executable file, a symbolic link. */
  readonly mode: '100644' | '100755' | '120000';
  /** Bytes. */
  readonly size: number;
  /** The store has only the id, as the file is too large to be kept. */
  readonly isHashOnly?: true;
}

/** A change of one file. */
export interface FileChange {
  /** Absolute path of the folder that the paths are relative to. */
  readonly root: string;
  /** Relative to `root`, with forward slashes. */
  readonly path: string;
  /** Where the file was before, if it was renamed. */
  readonly oldPath?: string;
  /** Absent: the file is new. */
  readonly before?: FileVersion;
  /** Absent: the file is deleted. */
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

/** The state of one folder at one time. */
export interface FolderTree {
  /** Absolute path of the folder. */
  readonly root: string;
  /** Names the state in the store of the folder. */
  readonly tree: string;
}

/** The state of all folders of a session at one time. */
export interface Snapshot {
  readonly folders: readonly FolderTree[];
  /** Why it is not the whole truth; absent: it is. */
  readonly gaps: readonly SnapshotGap[];
}

/** A limit of a snapshot. `root`: of which folder. */
export interface SnapshotGap {
  readonly root: string;
  /**
   * `no-git`: only files that tools name are known. `too-large`: the folder is too large without a
   * repository. `repositories`: there are more repositories below the folder than are read. `timeout`
   * and `failed`: the folder could not be read.
   */
  readonly why: 'no-git' | 'too-large' | 'repositories' | 'timeout' | 'failed';
}
