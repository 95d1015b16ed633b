// The composition root: builds the parts, connects them, returns the API. Everything lives as long as the extension's context.
import { join } from 'node:path';
import { type ExtensionContext, window, workspace } from 'vscode';
import { missingFileReadsEmpty } from './acp/quirks/gemini';
import { userEnvironment } from './agents/userEnvironment';
import { AgentFiles } from './client/agentFiles';
import { Terminals } from './client/terminals';
import { AgentCatalog } from './workbench/agentCatalog';
import { createApi, type ParleyApi } from './workbench/api';
import { ChatHome } from './workbench/chatHome';
import { registerCommands } from './workbench/commands';
import { Conversations } from './workbench/conversations';
import { DiffEditor } from './workbench/diffEditor';
import { EditorFiles } from './workbench/editorFiles';
import { RealTerminals } from './workbench/realTerminal';
import { afterCancel, startTimeoutMs } from './workbench/settings';
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
  const { version } = context.extension.packageJSON as { version: string };
  const isTrusted = (): boolean => workspace.isTrusted;
  const environment = (command?: string): Promise<Record<string, string>> => userEnvironment(log, command);
  const files = new EditorFiles({ log });
  const terminals = own(new Terminals({ log, env: environment, isTrusted }));
  const traffic = new Traffic();
  const catalog = new AgentCatalog(context, log);
  const services = {
    log,
    clock: { now: Date.now },
    client: { name: 'parley', title: 'Parley', version },
    environment,
    filesFor: (agentName: string, initializeResult: unknown) =>
      new AgentFiles(files, { agentName, missingFileReadsEmpty: missingFileReadsEmpty(initializeResult) }),
    terminals,
    isTrusted,
    startTimeoutMs,
    afterCancel,
    onTraffic: (key: string, dir: 'in' | 'out', line: string) => traffic.note(key, dir, line),
  };
  const scratch = join(context.globalStorageUri.fsPath, 'no-folder');
  const conversations = own(new Conversations(catalog, services, scratch));
  own(workspace.onDidGrantWorkspaceTrust(() => conversations.onTrusted()));
  const diffs = own(new DiffEditor());
  const realTerminals = own(new RealTerminals(terminals));
  const chat = new ChatHome(context, conversations, surfaceServices({ log, terminals, realTerminals, diffs }));
  for (const part of chat.register()) own(part);
  for (const part of registerCommands({ conversations, catalog, traffic, chat, showLog: () => channel.show() }))
    own(part);
  const { api, disposable } = createApi(conversations);
  own(disposable);
  ending = () => conversations.closeAll();
  return api;
}

/** VS Code waits a little for this: agents get the time to end in order. */
export function deactivate(): Promise<void> | undefined {
  return ending?.();
}
