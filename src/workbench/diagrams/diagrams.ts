// Diagrams of code blocks in editor tabs, which a reload does not restore.
import { homedir } from 'node:os';
import { type ExtensionContext, l10n, Uri, ViewColumn, type WebviewPanel, window, workspace } from 'vscode';
import * as z from 'zod/mini';
import { Configured, type Disposable } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { formatNumber } from '../../base/localFormat';
import type { Log } from '../../base/log';
import type { Conversation } from '../../client/conversation/conversation';
import { type FromDiagram, MAX_DIAGRAM, MAX_PICTURE, type ToDiagram } from '../../panel/diagramContract';
import { KeptFile, MERMAID_FILE } from '../../registry/install/keptFile';
import { diagramRegistry } from '../config/settings';
import { saveFile } from '../editor/saveFile';
import { sizeText } from '../registry/installFlow';
import { tabTitleOf } from '../sessions/sessionLabels';
import { inert } from '../ui/inertText';
import { confirm, showError, showProgress, showStatus } from '../ui/messages';
import { pickTarget } from '../ui/places';
import { toolHtml, toolRoot } from '../ui/toolPage';

const DIAGRAM_PANEL_TYPE = 'parley.diagram';

interface DiagramsOptions {
  readonly context: Pick<ExtensionContext, 'extensionUri' | 'globalStorageUri'>;
  readonly log: Log;
  readonly ask?: AskDownload;
}

export class Diagrams extends Configured<DiagramsOptions> implements Disposable {
  readonly #mermaid: Mermaid;
  readonly #open = new Map<string, WebviewPanel>();

  constructor(options: DiagramsOptions) {
    super(options);
    this.#mermaid = new Mermaid(Uri.joinPath(options.context.globalStorageUri, 'mermaid').fsPath, options.ask);
  }

  /**
   * Draws a diagram beside the chat. Asks before Mermaid is downloaded.
   * @throws ParleyError `too-long`, and those of {@link Mermaid.load}
   */
  async show(source: string, conversation: Conversation): Promise<void> {
    if (source.length > MAX_DIAGRAM)
      throw new ParleyError(
        'too-long',
        l10n.t('The diagram is too long. The maximum is {0} characters.', formatNumber(MAX_DIAGRAM)),
      );
    if ((await this.#mermaid.load()) === undefined) return;
    const key = `${conversation.key}\n${source}`;
    const open = this.#open.get(key);
    if (open) open.reveal();
    else
      this.#open.set(
        key,
        this.#draw(source, tabTitleOf(conversation), () => this.#open.delete(key)),
      );
  }

  dispose(): void {
    for (const panel of [...this.#open.values()]) panel.dispose();
  }

  #draw(source: string, title: string, onGone: () => void): WebviewPanel {
    const { extensionUri } = this.options.context;
    const name = inert(l10n.t('Diagram: {0}', title));
    const panel = window.createWebviewPanel(DIAGRAM_PANEL_TYPE, name, ViewColumn.Beside, {
      enableScripts: true,
      localResourceRoots: [toolRoot(extensionUri)],
    });
    panel.webview.onDidReceiveMessage((raw: unknown) => {
      const message = readFromDiagram(raw);
      if (!message) this.options.log.warn('a diagram sent a message that was refused');
      else this.#receive(panel, source, message).catch((error: unknown) => void showError(messageOf(error)));
    });
    panel.onDidDispose(onGone);
    panel.webview.html = toolHtml(panel.webview, extensionUri, 'diagram', 'diagramFrame.js');
    return panel;
  }

  async #receive({ webview }: WebviewPanel, source: string, message: FromDiagram): Promise<void> {
    if (message.type === 'hello') {
      const library = await this.#mermaid.load();
      if (library !== undefined) await webview.postMessage({ type: 'diagram', library, source } satisfies ToDiagram);
    } else if (message.type === 'save') {
      await save(message.svg);
    } else {
      this.options.log.error(`${message.kind === 'csp' ? 'content policy' : 'webview'}: ${message.text}`);
    }
  }
}

async function save(svg: string): Promise<void> {
  const folder = workspace.workspaceFolders?.[0]?.uri ?? Uri.file(homedir());
  const target = await pickTarget(l10n.t('Save'), Uri.joinPath(folder, 'diagram.svg'));
  if (!target) return;
  await saveFile(target, Buffer.from(svg));
  showStatus(l10n.t('Saved: {0}', target.fsPath));
}

const schema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello') }),
  z.object({ type: z.literal('save'), svg: z.string().check(z.maxLength(MAX_PICTURE), z.startsWith('<svg')) }),
  z.object({ type: z.literal('problem'), kind: z.enum(['error', 'csp']), text: z.string().check(z.maxLength(20_000)) }),
]);

function readFromDiagram(message: unknown): FromDiagram | undefined {
  const parsed = schema.safeParse(message);
  return parsed.success ? parsed.data : undefined;
}

type AskDownload = (question: string, detail: string, yes: string) => Promise<boolean>;

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
