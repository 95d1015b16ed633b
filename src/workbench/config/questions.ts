// Dialogs during commands, as an interface that tests implement.
import { askLine, type LineQuestion, type PickItem, pick } from '../ui/input';
import { askModal } from '../ui/messages';

export interface Questions {
  /** @param buttons besides “Cancel”; Enter chooses the first */
  choose(text: string, detail: string | undefined, buttons: readonly string[]): Promise<string | undefined>;
  line(question: LineQuestion, signal?: AbortSignal): Promise<string | undefined>;
  pick(items: readonly PickItem[], placeHolder: string): Promise<string | undefined>;
}

export const vscodeQuestions: Questions = { choose: askModal, line: askLine, pick };
