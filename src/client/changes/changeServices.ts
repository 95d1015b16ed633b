// What sessions need from outside to know what their turns change on disk.
import type { FolderStates } from '../../changes/model/folderStore';
import type { WorkingFiles } from '../../changes/model/workingFiles';

/** Tells which files the user edits in this window, so that they are told apart from the agent's. */
export interface UserEdits {
  /**
   * Returns the files (absolute paths) that the user has changed in an editor since then, saved or
   * not, and the files and folders that they have made, moved or deleted.
   * @param at ms since 1970
   */
  since(at: number): ReadonlySet<string>;
}

/** Stores the review of each session as one text, which is replaced as a whole. */
export interface ReviewStorage {
  read(key: string): Promise<string | undefined>;
  write(key: string, text: string): Promise<void>;
  remove(key: string): Promise<void>;
}

export interface ChangeServices {
  /** Returns whether changes are recorded (`parley.changes.enabled`). */
  readonly isEnabled: () => boolean;
  /**
   * Opens the states of the folders of a session. Nothing is run or written before they are used.
   * @param session the key of the conversation
   * @param roots absolute
   */
  readonly openStates: (session: string, roots: readonly string[]) => Promise<FolderStates>;
  readonly userEdits: UserEdits;
  readonly reviews: ReviewStorage;
  /** The files as the user sees them. */
  readonly files: WorkingFiles;
}
