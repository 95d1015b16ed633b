// Reports in Markdown, as read-only previews that can be copied.
import { commands, env, l10n, window } from 'vscode';
import type { Disposable } from '../../base/disposable';
import { showInfo, showStatus } from '../ui/messages';
import { ReadOnlyTexts } from './readOnlyTexts';

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
