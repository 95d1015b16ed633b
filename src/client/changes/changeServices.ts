// What sessions need from outside to know what their turns change on disk.
import type { FolderStates, WorkingFiles } from '../../changes/model/fileChange';

/** Tells the user's edits in this window from the agent's. */
export interface UserEdits {
  /**
   * Absolute paths changed in editors since then, saved or not, and files and folders created,
   * moved or deleted.
   * @param at ms since 1970
   */
  since(at: number): ReadonlySet<string>;
}

export interface ReviewStorage {
  read(key: string): Promise<string | undefined>;
  write(key: string, text: string): Promise<void>;
  remove(key: string): Promise<void>;
}

export interface ChangeServices {
  /** `parley.changes.enabled` */
  readonly isEnabled: () => boolean;
  /**
   * Nothing is run or written before the states are used.
   * @param session key of the conversation
   */
  readonly openStates: (session: string, roots: readonly string[]) => Promise<FolderStates>;
  readonly userEdits: UserEdits;
  readonly reviews: ReviewStorage;
  readonly files: WorkingFiles;
}
