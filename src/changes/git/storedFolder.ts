// What a store does for one folder, with git or without.
import type { Disposable } from '../../base/disposable';
import type { FileChange, FileVersion } from '../model/fileChange';

export interface StoredFolder {
  readonly store: string;
  readonly isNamedOnly: boolean;
  readonly hasUnreadRepositories: boolean;
  readonly newestRead: number;
  /**
   * @returns the name of the present state
   * @throws ParleyError `folder-too-large`, `git-…`; the reason of `signal`
   */
  take(signal?: AbortSignal): Promise<string>;
  /** @throws ParleyError `state-gone` */
  changes(root: string, before: string, after: string, signal?: AbortSignal): Promise<readonly FileChange[]>;
  /**
   * Returns a state with some files as they are in another.
   * @throws ParleyError `state-gone`
   */
  replaced(state: string, other: string, files: ReadonlySet<string>): Promise<string>;
  /** @throws ParleyError `state-gone` */
  read(version: FileVersion): Promise<Buffer>;
  write(content: Buffer, mode: FileVersion['mode']): Promise<FileVersion>;
  name(path: string): void;
  /** Removes what nothing holds, and packs the rest. */
  collect(signal?: AbortSignal): Promise<void>;
}

export interface OpenFolder extends Disposable {
  readonly folder: StoredFolder;
}
