// An item of the status bar. All text that it shows is made inert here.
import { type Command, type Disposable, MarkdownString, StatusBarAlignment, ThemeColor, window } from 'vscode';
import { inert, type LabelText, labelOf } from './inertText';

export interface StatusContent {
  /** What the item is called in the menu of the status bar. */
  readonly name: string;
  readonly text: LabelText;
  readonly tooltip: readonly string[];
  readonly command: Command;
  readonly isWarning: boolean;
}

/** Shows what it is given until it is disposed. */
export class StatusItem implements Disposable {
  readonly #item;

  /** @param id stable, for VS Code to remember whether the user hides the item */
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

/**
 * Markdown has no links of commands and no icons unless it is told to; appended text is escaped as
 * well.
 */
function plain(lines: readonly string[]): MarkdownString {
  const text = new MarkdownString();
  for (const line of lines) text.appendText(`${inert(line)}\n`);
  return text;
}
