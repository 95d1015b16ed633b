// The last messages on the wire, for display: a bounded ring in memory, redacted when it is shown.
import { l10n, window, workspace } from 'vscode';
import { redact } from '../../base/redact';
import { redactSignatures } from '../../distributed/model/resourceUrl';
import { TrafficRing } from './trafficRing';

export class Traffic {
  readonly #ring = new TrafficRing();

  /** Notes one line of the wire. Cheap: called for each message. */
  note(key: string, dir: 'in' | 'out', line: string): void {
    this.#ring.note(key, dir, line, Date.now());
  }

  /** The lines in order, as text. */
  text(): string {
    return this.#ring.text((line) => redact(redactSignatures(line)));
  }

  /** Opens the lines in an editor. */
  async show(): Promise<void> {
    const content = this.text() || l10n.t('No messages in this window yet.');
    const document = await workspace.openTextDocument({ content, language: 'log' });
    await window.showTextDocument(document, { preview: true });
  }
}
