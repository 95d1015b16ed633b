// A window of the product on a machine: its own composition (workbench/product.ts), driven through
// the extension's API and commands. Its folder outlives the process.
import './clock';
import { join } from 'node:path';
import type { ExtensionContext, LogOutputChannel } from 'vscode';
import { ChatPanel } from '../../../src/workbench/activation/chatPanel';
import { ChatView } from '../../../src/workbench/activation/chatView';
import { SessionTabs } from '../../../src/workbench/activation/sessionTabs';
import type { ListNode } from '../../../src/workbench/overview/sessionTree';
import { compose, type Product } from '../../../src/workbench/product';
import { Tree } from '../../../src/workbench/ui/treeView';
import { changeSettings, contextOf, editor, inPage } from './editor';
import { answerCalls } from './program';

let product: Product | undefined;

function running(): Product {
  if (!product) throw new Error('No window is open.');
  return product;
}

const log: string[] = [];

function channel(): LogOutputChannel {
  const write = (level: string) => (text: unknown) => void log.push(`${level}: ${String(text)}`);
  const levels = { trace: () => undefined, debug: write('debug'), info: write('info'), warn: write('warn') };
  return { ...levels, error: write('error'), logLevel: 2, dispose() {} } as unknown as LogOutputChannel;
}

answerCalls({
  open(storage: string, settings: Record<string, unknown>, secrets: Record<string, string>) {
    editor.folder = join(storage, 'work');
    Object.assign(editor.settings, settings);
    const context = contextOf(process.cwd(), storage) as ExtensionContext;
    for (const [key, value] of Object.entries(secrets)) void context.secrets.store(key, value);
    const places = {
      panel: new ChatPanel(context, () => {}),
      view: new ChatView(context, () => {}),
      tabs: new SessionTabs(context, () => {}),
      sessions: new Tree<ListNode>('parley.sessionsView', () => {}),
    };
    product = compose(context, places, channel());
  },
  close: () => running().end(),
  settings: changeSettings,
  presses(labels: string[]) {
    editor.presses = labels;
  },
  shown: () => editor.shown.splice(0),
  log: () => log.splice(0),
  clipboard: () => editor.clipboard,
  openSession: (agent: string) => running().api.openSession({ agent }),
  send: (key: string, text: string) => running().api.send(key, text),
  cancel: (key: string) => running().api.cancel(key),
  snapshot: (key: string) => running().api.snapshot(key),
  export: (key: string) => running().api.exportDescriptor(key),
  import: (descriptor: never, agent: string) => running().api.openDescriptor(descriptor, { agent }),
  run: (command: string, argument: never) => running().run(command, [argument]),
  press(session: string, id: string) {
    running().chat.showSession(session);
    inPage({ type: 'action', key: session, id });
  },
  async shows(key: string, text: string) {
    const { api } = running();
    const holds = (): boolean => api.snapshot(key).entries.some((entry) => entry.text?.includes(text));
    while (!holds())
      await new Promise<void>((resolve) => {
        const listening = api.onDidChange((changed) => {
          if (changed !== key) return;
          listening.dispose();
          resolve();
        });
      });
  },
});
