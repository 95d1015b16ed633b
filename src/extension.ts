// The composition root: builds the parts, connects them, returns the API. Everything lives as long as the extension's context.
import { join } from 'node:path';
import { type ExtensionContext, window, workspace } from 'vscode';
import { userEnvironment } from './agents/userEnvironment';
import { Terminals } from './client/terminals';
import { AgentCatalog } from './workbench/agentCatalog';
import { createApi, type ParleyApi } from './workbench/api';
import { Archive } from './workbench/archive';
import { ChatHome } from './workbench/chatHome';
import { registerCommands } from './workbench/commands';
import { conversationServices } from './workbench/conversationServices';
import { Conversations } from './workbench/conversations';
import { Descriptors } from './workbench/descriptors';
import { DiffEditor } from './workbench/diffEditor';
import { McpServers } from './workbench/mcpServers';
import { RealTerminals } from './workbench/realTerminal';
import { RemoteHeaders } from './workbench/remoteHeaders';
import { ResourceStores } from './workbench/resourceStores';
import { Serve } from './workbench/serve';
import { surfaceServices } from './workbench/surfaceServices';
import { Traffic } from './workbench/traffic';
import { vscodeLog } from './workbench/vscodeLog';

let ending: (() => Promise<void>) | undefined;

export function activate(context: ExtensionContext): ParleyApi {
  const own = <T extends { dispose(): void }>(part: T): T => {
    context.subscriptions.push(part);
    return part;
  };
  const channel = own(window.createOutputChannel('Parley', { log: true }));
  const log = vscodeLog(channel);
  const environment = (command?: string): Promise<Record<string, string>> => userEnvironment(log, command);
  const terminals = own(new Terminals({ log, env: environment, isTrusted: () => workspace.isTrusted }));
  const traffic = new Traffic();
  const catalog = new AgentCatalog(context, log);
  const remote = new RemoteHeaders(context);
  const mcp = new McpServers({ context, environment, log });
  const messageRecorder = (key: string) => descriptors.recorderOf(key);
  const services = conversationServices({
    context,
    log,
    environment,
    terminals,
    mcp,
    remote,
    traffic,
    messageRecorder,
  });
  const archive = own(new Archive(context, log));
  const scratch = join(context.globalStorageUri.fsPath, 'no-folder');
  const conversations = own(new Conversations(catalog, services, archive, scratch));
  own(workspace.onDidGrantWorkspaceTrust(() => conversations.onTrusted()));
  const serve = own(new Serve({ context, catalog, services, scratch, log }));
  const stores = own(new ResourceStores({ context, serve, log }));
  const descriptors: Descriptors = own(new Descriptors({ context, catalog, conversations, serve, stores, log }));
  own(archive.onDidDelete((keys) => void descriptors.forget(keys)));
  const diffs = own(new DiffEditor());
  const realTerminals = own(new RealTerminals(terminals));
  const { retry: retryGap } = descriptors;
  const takeOver = (key: string): void => chat.takeOver(key);
  const surfaces = surfaceServices({ log, terminals, realTerminals, diffs, takeOver, retryGap });
  const chat: ChatHome = new ChatHome(context, conversations, surfaces);
  for (const part of chat.register()) own(part);
  const parts = { conversations, catalog, archive, traffic, chat, mcp, remote, serve, stores, descriptors };
  for (const part of registerCommands({ ...parts, showLog: () => channel.show() })) own(part);
  const { api, disposable } = createApi(conversations, descriptors);
  own(disposable);
  ending = async () => {
    await Promise.all([conversations.closeAll(), serve.stop()]);
  };
  return api;
}

/** VS Code waits a little for this: agents get the time to end in order. */
export function deactivate(): Promise<void> | undefined {
  return ending?.();
}
