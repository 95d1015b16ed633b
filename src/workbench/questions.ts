// What the user is asked in the course of a command. Whoever makes a part may answer in the place of VS Code's own dialogs, which a program cannot press.
import { CancellationTokenSource, window } from 'vscode';
import { type PickItem, pick } from './pick';

export interface LineQuestion {
  readonly title?: string;
  readonly prompt: string;
  /** What is typed is not shown. */
  readonly secret?: boolean;
}

export interface Questions {
  /** A warning that waits for an answer. @param buttons what can be chosen besides going away @returns one of them; undefined where the user went away */
  choose(text: string, detail: string | undefined, buttons: readonly string[]): Promise<string | undefined>;
  /** One line of text. @returns undefined where the user, or `signal`, went away */
  line(question: LineQuestion, signal?: AbortSignal): Promise<string | undefined>;
  /** One of a list. @returns its id; undefined where the user went away */
  pick(items: readonly PickItem[], placeHolder: string): Promise<string | undefined>;
}

/** VS Code's own dialogs. */
export const vscodeQuestions: Questions = {
  choose: async (text, detail, buttons) =>
    window.showWarningMessage(text, { modal: true, ...(detail !== undefined && { detail }) }, ...buttons),
  line: async ({ title, prompt, secret = false }, signal) => {
    const source = new CancellationTokenSource();
    const cancel = (): void => source.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      const options = { prompt, password: secret, ignoreFocusOut: true, ...(title !== undefined && { title }) };
      return await window.showInputBox(options, source.token);
    } finally {
      signal?.removeEventListener('abort', cancel);
      source.dispose();
    }
  },
  pick,
};
