// Questions to the user in the course of a command, as an interface: tests answer them in place of
// VS Code's dialogs, which a program cannot press.
import { askLine, type LineQuestion, type PickItem, pick } from '../ui/input';
import { askModal } from '../ui/messages';

export interface Questions {
  /**
   * A warning that waits for an answer.
   * @param buttons what can be chosen besides “Cancel”; Enter chooses the first
   * @returns one of the buttons; undefined where the user went away
   */
  choose(text: string, detail: string | undefined, buttons: readonly string[]): Promise<string | undefined>;
  /** One line of text. @returns undefined where the user, or `signal`, went away */
  line(question: LineQuestion, signal?: AbortSignal): Promise<string | undefined>;
  /** One of a list. @returns its id; undefined where the user went away */
  pick(items: readonly PickItem[], placeHolder: string): Promise<string | undefined>;
}

/** VS Code's own dialogs. */
export const vscodeQuestions: Questions = { choose: askModal, line: askLine, pick };
