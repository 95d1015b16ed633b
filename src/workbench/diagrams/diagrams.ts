// Diagrams of code blocks in editor tabs, which a reload does not restore.
import { homedir } from 'node:os';
import { type ExtensionContext, l10n, Uri, ViewColumn, type WebviewPanel, window, workspace } from 'vscode';
import * as z from 'zod/mini';
import type { Disposable } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { formatNumber } from '../../base/localFormat';
import type { Log } from '../../base/log';
import type { Conversation } from '../../client/conversation/conversation';
import { type FromDiagram, MAX_DIAGRAM, MAX_PICTURE, type ToDiagram } from '../../panel/diagramContract';
import { saveFile } from '../editor/saveFile';
import { tabTitleOf } from '../sessions/sessionLabels';
import { inert } from '../ui/inertText';
import { showError, showStatus } from '../ui/messages';
import { pickTarget } from '../ui/places';
import { toolHtml, toolRoot } from '../ui/toolPage';
import { type AskDownload, Mermaid } from './mermaid';

export const DIAGRAM_PANEL_TYPE = 'parley.diagram';

export interface DiagramsOptions {
  readonly context: Pick<ExtensionContext, 'extensionUri' | 'globalStorageUri'>;
  readonly log: Log;
  readonly ask?: AskDownload;
}

export class Diagrams implements Disposable {
  readonly #options: DiagramsOptions;
  readonly #mermaid: Mermaid;
  /** By session and source. */
  readonly #open = new Map<string, WebviewPanel>();

  constructor(options: DiagramsOptions) {
    this.#options = options;
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
    const { extensionUri } = this.#options.context;
    const name = inert(l10n.t('Diagram: {0}', title));
    const panel = window.createWebviewPanel(DIAGRAM_PANEL_TYPE, name, ViewColumn.Beside, {
      enableScripts: true,
      localResourceRoots: [toolRoot(extensionUri)],
    });
    panel.webview.onDidReceiveMessage((raw: unknown) => {
      const message = readFromDiagram(raw);
      if (!message) this.#options.log.warn('a diagram sent a message that was refused');
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
      this.#options.log.error(`${message.kind === 'csp' ? 'content policy' : 'webview'}: ${message.text}`);
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
