// Shows the whole output of a tool call in an editor, where the panel shows only part of it.
import type * as vscode from 'vscode';
import { window, workspace } from 'vscode';
import type { Disposable } from '../../base/disposable';
import { fileNameOf } from './fileName';
import { columnBesideChat } from './openLocation';
import { ReadOnlyTexts } from './readOnlyTexts';

const MAX_KEPT = 10;
const MAX_NAME = 60;

export class OutputEditor implements Disposable {
  readonly #texts = new ReadOnlyTexts('parley-output', MAX_KEPT);

  async show(title: string, text: string): Promise<void> {
    const [line = ''] = title.replace(/[\\/?#]/g, '_').split('\n', 1);
    const uri = this.#texts.uriOf(`/${fileNameOf(line.slice(0, MAX_NAME))}.log`, text);
    const options: vscode.TextDocumentShowOptions = { preview: true, viewColumn: columnBesideChat() };
    await window.showTextDocument(await workspace.openTextDocument(uri), options);
  }

  dispose(): void {
    this.#texts.dispose();
  }
}
