// The extension's entry point. Registers commands, the chat's pages, the link handler and the API.
// Everything else (workbench/product.ts) is a separate bundle, loaded on first use, and not before
// VS Code has loaded the page that the user waits for.

import * as texts from '@vscode/l10n';
import { commands, type ExtensionContext, type LogOutputChannel, l10n, Uri, window } from 'vscode';
import { messageOf } from './base/errors';
import { CHAT_PANEL_TYPE, ChatPanel } from './workbench/activation/chatPanel';
import { CHAT_VIEW_ID, ChatView } from './workbench/activation/chatView';
import { type CompiledPlace, compileAhead, loadCompiled } from './workbench/activation/compiled';
import type { Page } from './workbench/activation/page';
import { rememberingSecretNames } from './workbench/activation/secretNames';
import { SESSION_TAB_TYPE, SessionTabs } from './workbench/activation/sessionTabs';
import { Starter } from './workbench/activation/starter';
import { COMMAND_ALIASES, UNLISTED_COMMANDS } from './workbench/activation/unlistedCommands';
import type { ParleyApi } from './workbench/api';
import type { ListNode } from './workbench/overview/sessionTree';
import type { Product } from './workbench/product';
import { offerProblemActions } from './workbench/ui/problemActions';
import { StatusItem } from './workbench/ui/statusItem';
import { Tree } from './workbench/ui/treeView';

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

/** Commands registered per turn of the event loop: VS Code's window is notified of each one. */
const COMMANDS_AT_ONCE = 30;

/** Time after which the product's startup work is done, in ms. */
const STARTED_MS = 20_000;

let starter: Starter<Product> | undefined;
let channel: LogOutputChannel | undefined;

export async function activate(given: ExtensionContext): Promise<ParleyApi> {
  const context = rememberingSecretNames(given);
  // This bundle has its own copy of the module; the product has another.
  texts.config({ contents: l10n.bundle ?? {} });
  const log = (): LogOutputChannel => {
    channel ??= window.createOutputChannel('Parley', { log: true });
    return channel;
  };
  const bundles = Uri.joinPath(context.extensionUri, 'dist', 'workbench');
  const place: CompiledPlace = {
    path: Uri.joinPath(bundles, 'product.js').fsPath,
    folder: Uri.joinPath(context.globalStorageUri, 'compiled').fsPath,
  };
  const starting = new Starter<Product>(() => {
    const bundle = loadCompiled<typeof import('./workbench/product')>(place);
    const composed = bundle.exports.compose(context, { panel, view, tabs, sessions }, log());
    const keep = (): Promise<void> => bundle.keep().catch((error: unknown) => log().warn(messageOf(error)));
    const timer = setTimeout(() => void keep(), STARTED_MS);
    context.subscriptions.push({ dispose: () => clearTimeout(timer) });
    return composed;
  }, log);
  starter = starting;
  const product = (): Product => starting.product();
  const fill = (page: Page): void => {
    // Starting an agent needs the names, so read them while the page is drawn.
    context.secrets.keys().then(undefined, (error: unknown) => log().warn(messageOf(error)));
    void starting.fill(page);
  };
  const panel = new ChatPanel(context, fill);
  const view = new ChatView(context, fill);
  const tabs = new SessionTabs(context, fill);
  const sessions = new Tree<ListNode>('parley.sessionsView', () => starting.prepare());
  const item = new StatusItem('parley.chat');
  item.show({
    name: 'Parley',
    text: [{ icon: 'comment-discussion' }, ' Parley'],
    tooltip: [l10n.t('Open Chat')],
    command: { title: l10n.t('Open Chat'), command: 'parley.open' },
    isWarning: false,
  });
  context.subscriptions.push(
    item,
    sessions,
    window.registerWebviewViewProvider(CHAT_VIEW_ID, view),
    window.registerWebviewPanelSerializer(CHAT_PANEL_TYPE, panel),
    window.registerWebviewPanelSerializer(SESSION_TAB_TYPE, tabs),
    offerProblemActions(),
    panel.watch(),
    tabs.watch(),
    window.registerUriHandler({
      handleUri: (uri) => {
        if (starting.prepare()) product().chat.handleUri(uri);
        else panel.open();
      },
    }),
  );
  const listed = (context.extension.packageJSON as Manifest).contributes.commands.map(({ command }) => command);
  for (const [index, command] of [...listed, ...UNLISTED_COMMANDS].entries()) {
    // VS Code runs the first command only after all are registered; yield for other extensions.
    if (index % COMMANDS_AT_ONCE === 0) await new Promise(setImmediate);
    const run = async (...args: never[]): Promise<unknown> => {
      if (command === 'parley.showLog') return log().show();
      if (command === 'parley.openDocumentation') {
        const page = Uri.joinPath(context.extensionUri, 'docs', 'README.md');
        return commands.executeCommand('markdown.showPreview', page);
      }
      if (command === 'parley.open' && !starting.isLoaded) {
        const page = panel.open();
        await page.hasBegun;
        if (page.isGone || !starting.prepare()) return undefined; // the page shows why
        return product().chat.begin(page);
      }
      return product().run(command, args);
    };
    context.subscriptions.push(commands.registerCommand(command, run));
  }
  for (const [alias, [command, argument]] of Object.entries(COMMAND_ALIASES)) {
    const run = (...args: never[]) =>
      commands.executeCommand(command, ...(argument ? [{ ...Object(args[0]), ...argument }] : args));
    context.subscriptions.push(commands.registerCommand(alias, run));
  }
  // A restored page is filled immediately, which leaves no time for this.
  if (!starting.isWanted) {
    const compiler = Uri.joinPath(bundles, 'compiler.js').fsPath;
    compileAhead(compiler, place).catch((error: unknown) => log().warn(messageOf(error)));
  }
  return apiOf(product);
}

/**
 * Ends agents and servers in order. VS Code waits a few seconds for this and disposes the
 * subscriptions in that time, so nothing that an orderly end needs is among them.
 */
export async function deactivate(): Promise<void> {
  await starter?.end();
  channel?.dispose();
}

/** Returns an API that loads the product on first use. */
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
