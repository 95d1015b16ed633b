// The script of Mermaid, which is downloaded when the user first draws a diagram and agrees to that.
import { l10n } from 'vscode';
import { messageOf, ParleyError } from '../../base/errors';
import { KeptFile, MERMAID_FILE } from '../../registry/install/keptFile';
import { diagramRegistry } from '../config/settings';
import { sizeText } from '../registry/installFlow';
import { confirm, showProgress } from '../ui/messages';

export type AskDownload = (question: string, detail: string, yes: string) => Promise<boolean>;

export class Mermaid {
  readonly #file: KeptFile;
  readonly #ask: AskDownload;
  #loading: Promise<string | undefined> | undefined;

  constructor(folder: string, ask: AskDownload = confirm) {
    this.#file = new KeptFile({ file: MERMAID_FILE, folder });
    this.#ask = ask;
  }

  /**
   * Returns the script; downloads it if the user agrees.
   * @returns undefined if the user refuses
   * @throws ParleyError `diagrams-off`, `mermaid-missing`
   */
  async load(): Promise<string | undefined> {
    const kept = await this.#file.read();
    if (kept) return kept;
    this.#loading ??= this.#fetch(kept === null).finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #fetch(isAgreed: boolean): Promise<string | undefined> {
    const registry = diagramRegistry();
    if (registry === undefined)
      throw new ParleyError(
        'diagrams-off',
        l10n.t('Mermaid is needed to draw diagrams. To download it, set {0}.', '`parley.diagrams.registry`'),
      );
    if (!isAgreed && !(await this.#ask(...question(this.#file.address(registry))))) return undefined;
    try {
      return await showProgress(l10n.t('Downloading Mermaid…'), (signal, report) =>
        this.#file.fetch(
          registry,
          (received) => report(received, MERMAID_FILE.bytes, l10n.t('downloaded {0}', sizeText(received))),
          signal,
        ),
      );
    } catch (error) {
      if (error instanceof Error && error.name === 'AbortError') return undefined;
      const hint = error instanceof ParleyError && error.hint;
      throw new ParleyError(
        'mermaid-missing',
        l10n.t(
          "Mermaid wasn't downloaded. {0} {1}",
          messageOf(error),
          hint || l10n.t('Check the setting {0}.', '`parley.diagrams.registry`'),
        ),
        { cause: error },
      );
    }
  }
}

function question(address: string): Parameters<AskDownload> {
  const detail = [
    l10n.t('Download: {0}', address),
    l10n.t('Size: {0}', sizeText(MERMAID_FILE.bytes)),
    l10n.t('License: {0}', 'MIT'),
    '',
    l10n.t(
      "Parley verifies the file by its checksum and keeps it in VS Code's storage. Diagrams are drawn without access to files and network.",
    ),
  ];
  return [l10n.t('Download Mermaid to draw diagrams?'), detail.join('\n'), l10n.t('Download')];
}
