// VS Code's own diff editor for the change of a tool call. Both sides are what the agent sent, read-only: the files on disk may have moved on since.
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Disposable } from '../base/disposable';
import { columnBesideChat } from './openLocation';
import { showComparison } from './ui/places';

const SCHEME = 'parley-diff';
/** Comparisons whose texts are kept; an editor restored or left open longer says that it is too old. */
const MAX_KEPT = 50;

/** A change as a tool call carries it. */
export interface ShownDiff {
  /** Absolute. */
  readonly path: string;
  /** Absent: a new file. */
  readonly oldText?: string;
  readonly newText: string;
}

/** Serves and shows comparisons; one for the window. */
export class DiffEditor implements Disposable {
  readonly #texts = new Map<string, { readonly old: string; readonly new: string }>();
  readonly #registration: vscode.Disposable;

  constructor() {
    this.#registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: (uri) => this.#textOf(uri),
    });
  }

  /** Opens a comparison beside the chat, where the question about it may still wait; the same one again shows the tab that is there. @param agentName for the title */
  async show(diff: ShownDiff, agentName: string): Promise<void> {
    const old = diff.oldText ?? '';
    const id = createHash('sha256')
      .update(diff.path)
      .update('\0')
      .update(old)
      .update('\0')
      .update(diff.newText)
      .digest('hex')
      .slice(0, 16);
    // Set again, it counts as the newest.
    this.#texts.delete(id);
    this.#texts.set(id, { old, new: diff.newText });
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= MAX_KEPT) break;
      this.#texts.delete(oldest);
    }
    // The path keeps the language of the file.
    const side = (name: string): vscode.Uri =>
      vscode.Uri.file(diff.path).with({ scheme: SCHEME, query: `${id}.${name}` });
    const file = basename(diff.path);
    const title =
      diff.oldText === undefined
        ? vscode.l10n.t('{0} (new file, {1})', file, agentName)
        : vscode.l10n.t('{0} (changed by {1})', file, agentName);
    const options: vscode.TextDocumentShowOptions = { preview: true, viewColumn: columnBesideChat() };
    await showComparison(side('old'), side('new'), title, options);
  }

  dispose(): void {
    this.#registration.dispose();
    this.#texts.clear();
  }

  #textOf(uri: vscode.Uri): string {
    const [id = '', side] = uri.query.split('.');
    const texts = this.#texts.get(id);
    if (texts) return side === 'old' ? texts.old : texts.new;
    return vscode.l10n.t('This comparison is no longer available. Open it again from the chat.');
  }
}
