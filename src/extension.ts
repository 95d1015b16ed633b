// What VS Code loads. The doors of the product stand here: its commands, the pages of the chat, its links and its API. All else (workbench/product.ts) is a bundle of its own
// that is read when something is first asked of it, and not before the page that the user waits for is drawn.
import { commands, type ExtensionContext, window } from 'vscode';
import type { ParleyApi } from './workbench/api';
import { CHAT_PANEL_TYPE, ChatPanel } from './workbench/door/chatPanel';
import { CHAT_VIEW_ID, ChatView } from './workbench/door/chatView';
import type { Page } from './workbench/door/page';
import type { Product } from './workbench/product';

/** Where nothing is asked, the product is there after this time, in ms: a window in which Parley is used also serves, and mends what broke. */
const LATEST_MS = 1000;

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

let loaded: Product | undefined;

export function activate(context: ExtensionContext): ParleyApi {
  const product = (): Product => {
    loaded ??= (require('./workbench/product') as typeof import('./workbench/product')).compose(context, {
      panel,
      view,
    });
    return loaded;
  };
  const fill = async (page: Page): Promise<void> => {
    await page.hasSpoken;
    if (!page.isGone) product().chat.fill(page);
  };
  const panel = new ChatPanel(context, (page) => void fill(page));
  const view = new ChatView(context, (page) => void fill(page));
  const latest = setTimeout(product, LATEST_MS);
  context.subscriptions.push(
    { dispose: () => clearTimeout(latest) },
    window.registerWebviewViewProvider(CHAT_VIEW_ID, view),
    window.registerWebviewPanelSerializer(CHAT_PANEL_TYPE, panel),
    panel.watch(),
    window.registerUriHandler({ handleUri: (uri) => product().chat.handleUri(uri) }),
  );
  for (const { command } of (context.extension.packageJSON as Manifest).contributes.commands) {
    const run = async (...args: never[]): Promise<unknown> => {
      if (command === 'parley.open' && !loaded) {
        const page = panel.open();
        await page.hasSpoken;
        if (page.isGone) return undefined;
      }
      return product().run(command, args);
    };
    context.subscriptions.push(commands.registerCommand(command, run));
  }
  return apiOf(product);
}

/** VS Code waits a little for this: agents get the time to end in order. */
export function deactivate(): Promise<void> | undefined {
  return loaded?.end();
}

/** The API, before the product behind it is loaded. */
function apiOf(product: () => Product): ParleyApi {
  return {
    version: 1,
    openSession: (options) => product().api.openSession(options),
    send: (key, text) => product().api.send(key, text),
    enqueue: (key, text) => product().api.enqueue(key, text),
    cancel: (key) => product().api.cancel(key),
    checkStatus: (key) => product().api.checkStatus(key),
    snapshot: (key) => product().api.snapshot(key),
    exportDescriptor: (key) => product().api.exportDescriptor(key),
    openDescriptor: (descriptor, options) => product().api.openDescriptor(descriptor, options),
    get onDidChange() {
      return product().api.onDidChange;
    },
  };
}
