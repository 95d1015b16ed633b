// Texts of agents as read-only documents, of which only the newest stay in memory.
import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import { commands, env, l10n, window } from 'vscode';
import type { Disposable } from '../../base/disposable';
import { showInfo, showStatus } from '../ui/messages';
import { fileNameOfTitle } from './fileName';
import { columnBesideChat } from './openLocation';

const MAX_OUTPUTS = 10;
const MAX_SESSIONS = 2;

export class ReadOnlyTexts implements Disposable {
  readonly #scheme: string;
  readonly #limit: number;
  readonly #texts = new Map<string, string>();
  readonly #registration: vscode.Disposable;

  /** @param limit maximum number of texts; older ones are no longer available */
  constructor(scheme: string, limit: number) {
    this.#scheme = scheme;
    this.#limit = limit;
    this.#registration = vscode.workspace.registerTextDocumentContentProvider(scheme, {
      provideTextDocumentContent: ({ query }) =>
        this.#texts.get(query) ?? vscode.l10n.t('This text is no longer available. Reopen it from the chat.'),
    });
  }

  /** Returns the same URI for the same text. @param path determines name and language */
  uriOf(path: string, text: string): vscode.Uri {
    const id = createHash('sha256').update(text).digest('hex').slice(0, 16);
    this.#texts.delete(id);
    this.#texts.set(id, text);
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= this.#limit) break;
      this.#texts.delete(oldest);
    }
    return vscode.Uri.file(path).with({ scheme: this.#scheme, query: id });
  }

  protected async open(path: string, text: string, options: vscode.TextDocumentShowOptions): Promise<void> {
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(this.uriOf(path, text)), options);
  }

  dispose(): void {
    this.#registration.dispose();
    this.#texts.clear();
  }
}

export class OutputEditor extends ReadOnlyTexts {
  constructor() {
    super('parley-output', MAX_OUTPUTS);
  }

  show(title: string, text: string): Promise<void> {
    const [line = ''] = title.split('\n', 1);
    return this.open(`/${fileNameOfTitle(line)}.log`, text, { preview: true, viewColumn: columnBesideChat() });
  }
}

export class SessionTexts extends ReadOnlyTexts {
  constructor() {
    super('parley-session', MAX_SESSIONS);
  }

  show(title: string, text: string): Promise<void> {
    return this.open(`/${fileNameOfTitle(title)}.md`, text, { preview: false });
  }
}

const MAX_REPORTS = 5;

export class Reports implements Disposable {
  #texts: ReadOnlyTexts | undefined;

  async show(name: string, report: string): Promise<void> {
    this.#texts ??= new ReadOnlyTexts('parley-report', MAX_REPORTS);
    const uri = this.#texts.uriOf(`/${name}.md`, report);
    try {
      await commands.executeCommand('markdown.showPreview', uri);
    } catch {
      await window.showTextDocument(uri);
    }
    const copy = l10n.t('Copy Report');
    const text = l10n.t('Parley removed the secrets that it knows. Read the report before you share it.');
    if ((await showInfo(text, copy)) !== copy) return;
    await env.clipboard.writeText(report);
    showStatus(l10n.t('Report copied.'));
  }

  dispose(): void {
    this.#texts?.dispose();
  }
}
