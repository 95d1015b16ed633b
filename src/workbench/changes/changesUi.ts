// What a page of the chat asks of VS Code when the user acts on changed files.
import type { Conversation } from '../../client/conversation/conversation';
import type { ChangesAction, FromTurn } from '../../panel/contract';

/** Shows, keeps and undoes changes of a conversation. What is thrown is said in its transcript. */
export interface ChangesUi {
  /** Opens, keeps or undoes one file, or all of the scope where no file is named. */
  act(conversation: Conversation, action: ChangesAction): Promise<void>;
  /** Restores the files to before a turn: shows what will change, and asks. */
  restoreCheckpoint(conversation: Conversation, turnId: string): Promise<void>;
  /** Takes the last restore back. */
  undoRestore(conversation: Conversation): Promise<void>;
  /** Prepares a new session: from before the message that began a turn, or to review what it changed. */
  continueFrom(conversation: Conversation, turnId: string, how: FromTurn): Promise<void>;
}
