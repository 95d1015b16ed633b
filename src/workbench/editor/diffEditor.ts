// Shows the change of a tool call in VS Code's diff editor. Both sides are what the agent sent,
// read-only: the files on disk may have changed since.
import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable';
import { showComparison } from '../ui/places';
import { columnBesideChat } from './openLocation';
import { ReadOnlyTexts } from './readOnlyTexts';

const MAX_KEPT = 100;

export interface ShownDiff {
  /** Absolute. */
  readonly path: string;
  /** Absent: a new file. */
  readonly oldText?: string;
  readonly newText: string;
}

export class DiffEditor implements Disposable {
  readonly texts = new ReadOnlyTexts('parley-diff', MAX_KEPT);

  /** Opens a comparison beside the chat. */
  async show(diff: ShownDiff, agentName: string): Promise<void> {
    // The path keeps the language of the file.
    const before = this.texts.uriOf(diff.path, diff.oldText ?? '');
    const after = this.texts.uriOf(diff.path, diff.newText);
    const file = basename(diff.path);
    const title =
      diff.oldText === undefined
        ? vscode.l10n.t('{0} (new file, {1})', file, agentName)
        : vscode.l10n.t('{0} (changed by {1})', file, agentName);
    const options: vscode.TextDocumentShowOptions = { preview: true, viewColumn: columnBesideChat() };
    await showComparison(before, after, title, options);
  }

  async showWritten(path: string, shown: string, written: string): Promise<void> {
    const title = vscode.l10n.t('{0} (as shown ↔ as written)', basename(path));
    const options: vscode.TextDocumentShowOptions = { preview: true, viewColumn: columnBesideChat() };
    await showComparison(this.texts.uriOf(path, shown), this.texts.uriOf(path, written), title, options);
  }

  dispose(): void {
    this.texts.dispose();
  }
}
