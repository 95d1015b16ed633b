// Shows a whole session as Markdown in an editor, where all of it can be searched, copied and saved.
import { window, workspace } from 'vscode';
import type { Disposable } from '../../base/disposable';
import { fileNameOfTitle } from './fileName';
import { ReadOnlyTexts } from './readOnlyTexts';

/** Each can have many megabytes. */
const MAX_KEPT = 2;

/** Serves and shows sessions as texts; one for the window. */
export class SessionTexts implements Disposable {
  readonly #texts = new ReadOnlyTexts('parley-session', MAX_KEPT);

  /** Opens a text. @param title of the session, names the tab */
  async show(title: string, text: string): Promise<void> {
    const uri = this.#texts.uriOf(`/${fileNameOfTitle(title)}.md`, text);
    await window.showTextDocument(await workspace.openTextDocument(uri), { preview: false });
  }

  dispose(): void {
    this.#texts.dispose();
  }
}
