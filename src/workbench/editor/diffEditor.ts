// Shows the change of a tool call, as sent by the agent, in VS Code's diff editor.
import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable';
import { showComparison } from '../ui/places';
import { columnBesideChat } from './openLocation';
import { ReadOnlyTexts } from './readOnlyTexts';

const MAX_KEPT = 100;

export interface ShownDiff {
  readonly path: string;
  /** Absent: a new file. */
  readonly oldText?: string;
  readonly newText: string;
}

export class DiffEditor implements Disposable {
  readonly texts = new ReadOnlyTexts('parley-diff', MAX_KEPT);

  show({ path, oldText, newText }: ShownDiff, agentName: string): Promise<void> {
    const title =
      oldText === undefined
        ? vscode.l10n.t('{0} (new file, {1})', basename(path), agentName)
        : vscode.l10n.t('{0} (changed by {1})', basename(path), agentName);
    return this.#compare(path, oldText ?? '', newText, title);
  }

  showWritten(path: string, shown: string, written: string): Promise<void> {
    return this.#compare(path, shown, written, vscode.l10n.t('{0} (as shown ↔ as written)', basename(path)));
  }

  async #compare(path: string, before: string, after: string, title: string): Promise<void> {
    const options = { preview: true, viewColumn: columnBesideChat() };
    await showComparison(this.texts.uriOf(path, before), this.texts.uriOf(path, after), title, options);
  }

  dispose(): void {
    this.texts.dispose();
  }
}
