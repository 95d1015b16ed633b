// Tells reviews when VS Code's Undo or Redo may have changed what was undone in them.
import { type Uri, workspace } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { pathKey } from '../editor/openDocuments';
import type { Conversations } from '../sessions/conversations';

export class UndoneWatch implements Disposable {
  readonly #conversations: Pick<Conversations, 'list'>;
  readonly #lifetime = new DisposableStore();

  constructor(conversations: Pick<Conversations, 'list'>) {
    this.#conversations = conversations;
    // Also fires when only the dirty state changed: VS Code tells that after the content, and until
    // then a document counts as what is on the disk.
    this.#lifetime.add(workspace.onDidChangeTextDocument(({ document }) => this.#changed(document.uri)));
    this.#lifetime.add(workspace.onDidCreateFiles(({ files }) => this.#changed(...files)));
    this.#lifetime.add(workspace.onDidDeleteFiles(({ files }) => this.#changed(...files)));
  }

  dispose(): void {
    this.#lifetime.dispose();
  }

  #changed(...uris: readonly Uri[]): void {
    const keys = new Set(uris.filter(({ scheme }) => scheme === 'file').map(({ fsPath }) => pathKey(fsPath)));
    const lengths = new Set([...keys].map(({ length }) => length));
    // Runs with each key that is typed.
    for (const { changes } of this.#conversations.list())
      for (const path of changes.review?.undonePaths ?? [])
        if (lengths.has(path.length) && keys.has(pathKey(path))) void changes.review?.editorChanged(path);
  }
}
