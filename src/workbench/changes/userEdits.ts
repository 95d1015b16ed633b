// Tracks which files the user edits, to tell these edits from those of agents.
import { realpath } from 'node:fs/promises';
import { type Uri, workspace } from 'vscode';
import { Part } from '../../base/disposable';
import type { UserEdits } from '../../client/changes/changeServices';
import type { FilePort } from '../../client/ports/ports';

const MAX_FILES = 2000;

export class EditorUserEdits extends Part implements UserEdits {
  readonly #now: () => number;
  /** Time of the last edit, save or move by path (ms since 1970), oldest first. */
  readonly #edited = new Map<string, number>();
  readonly #unsaved = new Set<string>();
  readonly #agentWrites = new Map<string, number>();

  constructor(now: () => number) {
    super();
    this.#now = now;
    this.own(
      workspace.onDidChangeTextDocument(({ document }) => {
        // A document reloaded from disk is not dirty. The first edit fires before the document
        // becomes dirty; a second event without changes follows.
        if (document.isDirty) this.#changed(document);
      }),
    );
    this.own(
      workspace.onDidChangeNotebookDocument(({ notebook }) => {
        if (notebook.isDirty) this.#changed(notebook);
      }),
    );
    const saved = ({ uri }: { readonly uri: Uri }): void => {
      if (this.#unsaved.delete(uri.fsPath)) this.#note(uri.fsPath);
    };
    const closed = ({ uri }: { readonly uri: Uri }): boolean => this.#unsaved.delete(uri.fsPath);
    this.own(workspace.onDidSaveTextDocument(saved));
    this.own(workspace.onDidSaveNotebookDocument(saved));
    this.own(workspace.onDidCloseTextDocument(closed));
    this.own(workspace.onDidCloseNotebookDocument(closed));
    this.own(workspace.onDidCreateFiles(({ files }) => this.#moved(files)));
    this.own(workspace.onDidDeleteFiles(({ files }) => this.#moved(files)));
    this.own(
      workspace.onDidRenameFiles(({ files }) => this.#moved(files.flatMap(({ oldUri, newUri }) => [oldUri, newUri]))),
    );
  }

  since(at: number): ReadonlySet<string> {
    const edited = [...this.#edited].filter(([, time]) => time >= at).map(([path]) => path);
    return new Set([...edited, ...this.#unsaved]);
  }

  filesForAgents(files: FilePort): FilePort {
    return {
      readText: (path, maxBytes) => files.readText(path, maxBytes),
      writeText: (path, text, given) => this.asAgent([path], () => files.writeText(path, text, given)),
    };
  }

  /** Runs a change of files (absolute paths) that is not the user's. */
  readonly asAgent = async <T>(paths: readonly string[], change: () => Promise<T>): Promise<T> => {
    const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
    const names = [...paths, ...real];
    for (const name of names) this.#agentWrites.set(name, (this.#agentWrites.get(name) ?? 0) + 1);
    try {
      return await change();
    } finally {
      for (const name of names) {
        const remaining = (this.#agentWrites.get(name) ?? 1) - 1;
        if (remaining > 0) this.#agentWrites.set(name, remaining);
        else this.#agentWrites.delete(name);
      }
    }
  };

  #moved(uris: readonly Uri[]): void {
    for (const { scheme, fsPath } of uris) if (scheme === 'file' && !this.#agentWrites.has(fsPath)) this.#note(fsPath);
  }

  #changed({ uri }: { readonly uri: Uri }): void {
    if (uri.scheme !== 'file' || this.#agentWrites.has(uri.fsPath)) return;
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
