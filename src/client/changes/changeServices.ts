// Services through which a session records what its turns change on disk.
import type { FolderStates, WorkingFiles } from '../../changes/model/fileChange';

export interface UserEdits {
  /**
   * Returns absolute paths edited (saved or not), created, moved or deleted in editors since a
   * time.
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
   * Runs and writes nothing until the states are used.
   * @param session key of the conversation
   */
  readonly openStates: (session: string, roots: readonly string[]) => Promise<FolderStates>;
  readonly userEdits: UserEdits;
  readonly reviews: ReviewStorage;
  readonly files: WorkingFiles;
}
