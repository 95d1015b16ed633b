// Questions to the user in the course of a command, as an interface: tests answer them in place of
// VS Code's dialogs, which a program cannot press.
import { askLine, type LineQuestion, type PickItem, pick } from '../ui/input';
import { askModal } from '../ui/messages';

export interface Questions {
  /**
   * @param buttons besides “Cancel”; Enter chooses the first
   * @returns undefined if the user cancelled
   */
  choose(text: string, detail: string | undefined, buttons: readonly string[]): Promise<string | undefined>;
  /** @returns undefined if the user, or `signal`, cancelled */
  line(question: LineQuestion, signal?: AbortSignal): Promise<string | undefined>;
  /** @returns its id; undefined if the user cancelled */
  pick(items: readonly PickItem[], placeHolder: string): Promise<string | undefined>;
}

export const vscodeQuestions: Questions = { choose: askModal, line: askLine, pick };
