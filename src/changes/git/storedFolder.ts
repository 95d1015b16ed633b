// What a store does for one folder, with git or without.
import type { Disposable } from '../../base/disposable';
import type { FileChange, FileVersion } from '../model/fileChange';

/** The states of one folder, each with a name. */
export interface StoredFolder {
  /** Absolute; where holds are. */
  readonly store: string;
  /** Only files that are named are looked at. */
  readonly isNamedOnly: boolean;
  /** There are more repositories below the folder than the newest state has. */
  readonly hasUnreadRepositories: boolean;
  /** As that of `FolderStates`. */
  readonly newestRead: number;
  /**
   * Reads the present state.
   * @returns its name
   * @throws ParleyError `folder-too-large`, `git-…`; the reason of `signal`
   */
  take(signal?: AbortSignal): Promise<string>;
  /**
   * @param root absolute path of the folder, as the changes say it
   * @throws ParleyError `state-gone`
   */
  changes(root: string, before: string, after: string, signal?: AbortSignal): Promise<readonly FileChange[]>;
  /**
   * A state with some files as they are in another.
   * @param files relative to the folder
   * @throws ParleyError `state-gone`
   */
  replaced(state: string, other: string, files: ReadonlySet<string>): Promise<string>;
  /** @throws ParleyError `state-gone` */
  read(version: FileVersion): Promise<Buffer>;
  write(content: Buffer, mode: FileVersion['mode']): Promise<FileVersion>;
  /** A file to look at, relative to the folder, where only such files are. */
  name(path: string): void;
  /** Removes what nothing holds, and makes the rest small. */
  collect(signal?: AbortSignal): Promise<void>;
}

/** A folder that is open until it is disposed. */
export interface OpenFolder extends Disposable {
  readonly folder: StoredFolder;
}
