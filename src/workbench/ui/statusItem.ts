// A status bar item. All text is made inert here.
import { type Command, type Disposable, MarkdownString, StatusBarAlignment, ThemeColor, window } from 'vscode';
import { inert, type LabelText, labelOf } from './inertText';

export interface StatusContent {
  readonly name: string;
  readonly text: LabelText;
  readonly tooltip: readonly string[];
  readonly command: Command;
  readonly isWarning: boolean;
}

export class StatusItem implements Disposable {
  readonly #item;

  /** @param id stable, so that VS Code remembers whether the user hides the item */
  constructor(id: string) {
    this.#item = window.createStatusBarItem(id, StatusBarAlignment.Right);
  }

  show({ name, text, tooltip, command, isWarning }: StatusContent): void {
    this.#item.name = inert(name);
    this.#item.text = labelOf(text);
    this.#item.tooltip = plain(tooltip);
    this.#item.command = command;
    this.#item.backgroundColor = isWarning ? new ThemeColor('statusBarItem.warningBackground') : undefined;
    this.#item.show();
  }

  dispose(): void {
    this.#item.dispose();
  }
}

/** Command links and icons are disabled in Markdown by default; text is escaped too. */
function plain(lines: readonly string[]): MarkdownString {
  const text = new MarkdownString();
  for (const line of lines) text.appendText(`${inert(line)}\n`);
  return text;
}
