// The traffic inspector in an editor tab, one per window.
import { commands, type ExtensionContext, env, l10n, ViewColumn, type WebviewPanel, window } from 'vscode';
import * as z from 'zod/mini';
import { Configured, type Disposable, DisposableStore } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { WireMarks } from '../../client/replay/wireMarks';
import type { FromTraffic } from '../../panel/trafficContract';
import { TrafficFeed } from '../../traffic/trafficFeed';
import type { TrafficLog } from '../../traffic/trafficLog';
import { showStatus } from '../ui/messages';
import { toolHtml, toolRoot } from '../ui/toolPage';

const TRAFFIC_PANEL_TYPE = 'parley.traffic';

interface TrafficInspectorOptions {
  readonly context: ExtensionContext;
  readonly traffic: TrafficLog;
  readonly log: Log;
  readonly labelOf: (key: string) => string;
  readonly save: (key: string | undefined) => Promise<void>;
}

export class TrafficInspector extends Configured<TrafficInspectorOptions> implements Disposable {
  #open: { readonly panel: WebviewPanel; readonly parts: DisposableStore } | undefined;

  show(): void {
    if (this.#open) {
      this.#open.panel.reveal();
      return;
    }
    const { context, log } = this.options;
    const panel = window.createWebviewPanel(TRAFFIC_PANEL_TYPE, l10n.t('Parley Traffic'), ViewColumn.Beside, {
      enableScripts: true,
      localResourceRoots: [toolRoot(context.extensionUri)],
    });
    const parts = new DisposableStore();
    this.#open = { panel, parts };
    const feed = parts.add(
      new TrafficFeed({
        log: this.options.traffic,
        labelOf: this.options.labelOf,
        createReader: () => new WireMarks(),
        post: (message) => {
          panel.webview
            .postMessage(message)
            .then(undefined, (error: unknown) => log.debug(`traffic: ${messageOf(error)}`));
        },
      }),
    );
    parts.add(
      panel.webview.onDidReceiveMessage((raw: unknown) => {
        const message = readFromTraffic(raw);
        if (message) this.#receive(feed, message);
        else log.warn('the traffic inspector sent a message that was refused');
      }),
    );
    // VS Code discards hidden pages; they announce themselves when shown again.
    parts.add(panel.onDidChangeViewState(() => !panel.visible && feed.suspend()));
    panel.onDidDispose(() => {
      this.#open = undefined;
      parts.dispose();
    });
    panel.webview.html = toolHtml(panel.webview, context.extensionUri, 'traffic');
  }

  dispose(): void {
    this.#open?.panel.dispose();
  }

  #receive(feed: TrafficFeed, message: FromTraffic): void {
    const { traffic, log, save } = this.options;
    const failed = (error: unknown): void => log.error(`traffic: ${messageOf(error)}`);
    switch (message.type) {
      case 'hello':
        feed.begin();
        return;
      case 'ack':
        feed.acknowledge();
        return;
      case 'pause':
        feed.pause(message.isPaused);
        return;
      case 'clear':
        traffic.clear();
        return;
      case 'select':
        feed.select(message.seq).catch(failed);
        return;
      case 'find':
        feed.find(message.id, message.text).catch(failed);
        return;
      case 'copy':
        copy(feed, message.seq).catch(failed);
        return;
      case 'export':
        save(message.key ?? undefined).catch(failed);
        return;
      case 'openRecording':
        commands.executeCommand('parley.openRecording').then(undefined, failed);
        return;
      case 'problem':
        log.error(`${message.kind === 'csp' ? 'content policy' : 'webview'}: ${message.text}`);
    }
  }
}

async function copy(feed: TrafficFeed, seq: number): Promise<void> {
  const content = await feed.contentOf(seq);
  if (!content) return;
  await env.clipboard.writeText(content.text);
  showStatus(l10n.t('Message copied without secrets.'));
}

const number = z.int().check(z.nonnegative());

const schema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello') }),
  z.object({ type: z.literal('ack') }),
  z.object({ type: z.literal('pause'), isPaused: z.boolean() }),
  z.object({ type: z.literal('clear') }),
  z.object({ type: z.literal('select'), seq: number }),
  z.object({ type: z.literal('find'), id: number, text: z.string().check(z.maxLength(1_000)) }),
  z.object({ type: z.literal('copy'), seq: number }),
  z.object({ type: z.literal('export'), key: z.nullable(z.string().check(z.maxLength(500))) }),
  z.object({ type: z.literal('openRecording') }),
  z.object({ type: z.literal('problem'), kind: z.enum(['error', 'csp']), text: z.string().check(z.maxLength(20_000)) }),
]);

function readFromTraffic(message: unknown): FromTraffic | undefined {
  const parsed = schema.safeParse(message);
  return parsed.success ? parsed.data : undefined;
}
