// Shows a whole session as Markdown in an editor, where all of it can be searched, copied and saved.
import { window, workspace } from 'vscode';
import type { Disposable } from '../../base/disposable';
import { fileNameOfTitle } from './fileName';
import { ReadOnlyTexts } from './readOnlyTexts';

const MAX_KEPT = 2;

export class SessionTexts implements Disposable {
  readonly #texts = new ReadOnlyTexts('parley-session', MAX_KEPT);

  async show(title: string, text: string): Promise<void> {
    const uri = this.#texts.uriOf(`/${fileNameOfTitle(title)}.md`, text);
    await window.showTextDocument(await workspace.openTextDocument(uri), { preview: false });
  }

  dispose(): void {
    this.#texts.dispose();
  }
}
