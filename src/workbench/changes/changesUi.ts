// What a page of the chat asks of VS Code when the user acts on changed files.
import type { Conversation } from '../../client/conversation/conversation';
import type { ChangesAction } from '../../panel/contract';

/** Shows, keeps and undoes changes of a conversation. What is thrown is said in its transcript. */
export interface ChangesUi {
  /** Opens, keeps or undoes one file, or all of the scope where no file is named. */
  act(conversation: Conversation, action: ChangesAction): Promise<void>;
  /** Restores the files to before a turn: shows what will change, and asks. */
  restoreCheckpoint(conversation: Conversation, turnId: string): Promise<void>;
  /** Takes the last restore back. */
  undoRestore(conversation: Conversation): Promise<void>;
  /** Restores the files to before a turn, and sends its edited prompt again from there. */
  editAndResend(conversation: Conversation, turnId: string): Promise<void>;
}
