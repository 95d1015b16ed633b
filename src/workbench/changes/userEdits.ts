// Remembers which files the user edits, to tell these edits from those of agents.
import { realpath } from 'node:fs/promises';
import { type Uri, workspace } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import type { UserEdits } from '../../client/changes/changeServices';
import type { FilePort } from '../../client/ports/ports';

const MAX_FILES = 2000;

export class EditorUserEdits implements UserEdits, Disposable {
  readonly #lifetime = new DisposableStore();
  readonly #now: () => number;
  /** When each file or folder was edited, saved or moved last (ms since 1970), the oldest first. */
  readonly #edited = new Map<string, number>();
  readonly #unsaved = new Set<string>();
  /** Files that agents write through their documents now. */
  readonly #written = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
    this.#lifetime.add(
      workspace.onDidChangeTextDocument(({ document }) => {
        // A document that follows the disk is not dirty. The first edit fires before the document
        // is dirty; a second event without changes follows.
        if (document.isDirty) this.#changed(document);
      }),
    );
    this.#lifetime.add(
      workspace.onDidChangeNotebookDocument(({ notebook }) => {
        if (notebook.isDirty) this.#changed(notebook);
      }),
    );
    const saved = ({ uri }: { readonly uri: Uri }): void => {
      if (this.#unsaved.delete(uri.fsPath)) this.#note(uri.fsPath);
    };
    const closed = ({ uri }: { readonly uri: Uri }): boolean => this.#unsaved.delete(uri.fsPath);
    this.#lifetime.add(workspace.onDidSaveTextDocument(saved));
    this.#lifetime.add(workspace.onDidSaveNotebookDocument(saved));
    this.#lifetime.add(workspace.onDidCloseTextDocument(closed));
    this.#lifetime.add(workspace.onDidCloseNotebookDocument(closed));
    this.#lifetime.add(workspace.onDidCreateFiles(({ files }) => this.#moved(files)));
    this.#lifetime.add(workspace.onDidDeleteFiles(({ files }) => this.#moved(files)));
    this.#lifetime.add(
      workspace.onDidRenameFiles(({ files }) => this.#moved(files.flatMap(({ oldUri, newUri }) => [oldUri, newUri]))),
    );
  }

  since(at: number): ReadonlySet<string> {
    const edited = [...this.#edited].filter(([, time]) => time >= at).map(([path]) => path);
    return new Set([...edited, ...this.#unsaved]);
  }

  filesForAgents(files: FilePort): FilePort {
    return {
      readText: (path, line, limit, maxBytes) => files.readText(path, line, limit, maxBytes),
      writeText: (path, text, given) => this.asAgent([path], () => files.writeText(path, text, given)),
    };
  }

  /** Runs a change of these files (absolute paths), which is not the user's. */
  readonly asAgent = async <T>(paths: readonly string[], change: () => Promise<T>): Promise<T> => {
    const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
    const names = [...paths, ...real];
    for (const name of names) this.#written.set(name, (this.#written.get(name) ?? 0) + 1);
    try {
      return await change();
    } finally {
      for (const name of names) {
        const left = (this.#written.get(name) ?? 1) - 1;
        if (left > 0) this.#written.set(name, left);
        else this.#written.delete(name);
      }
    }
  };

  dispose(): void {
    this.#lifetime.dispose();
  }

  #moved(uris: readonly Uri[]): void {
    for (const { scheme, fsPath } of uris) if (scheme === 'file' && !this.#written.has(fsPath)) this.#note(fsPath);
  }

  #changed({ uri }: { readonly uri: Uri }): void {
    if (uri.scheme !== 'file' || this.#written.has(uri.fsPath)) return;
    this.#unsaved.add(uri.fsPath);
    this.#note(uri.fsPath);
  }

  #note(path: string): void {
    this.#edited.delete(path);
    this.#edited.set(path, this.#now());
    const [oldest] = this.#edited.keys();
    if (this.#edited.size > MAX_FILES && oldest !== undefined) this.#edited.delete(oldest);
  }
}
