// What conversations share in this window: files and terminals of VS Code, the user's environment and settings.
import { workspace } from 'vscode';
import { missingFileReadsEmpty } from '../acp/quirks/gemini';
import type { Log } from '../base/log';
import { AgentFiles } from '../client/agentFiles';
import { ProtocolOffers } from '../client/protocolOffers';
import type { ConversationServices } from '../client/services';
import type { Terminals } from '../client/terminals';
import { EditorFiles } from './editorFiles';
import type { McpServers } from './mcpServers';
import type { RemoteHeaders } from './remoteHeaders';
import { afterCancel, restartsAgents, startTimeoutMs } from './settings';
import { signInTerminal } from './signInTerminal';
import type { Traffic } from './traffic';

export interface ServiceParts {
  readonly log: Log;
  readonly version: string;
  readonly environment: (command?: string) => Promise<Record<string, string>>;
  readonly terminals: Terminals;
  readonly mcp: McpServers;
  readonly remote: RemoteHeaders;
  readonly traffic: Traffic;
}

export function conversationServices(parts: ServiceParts): ConversationServices {
  const { log, version, environment, terminals, mcp, remote, traffic } = parts;
  const files = new EditorFiles({ log });
  return {
    log,
    clock: { now: Date.now },
    client: { name: 'parley', title: 'Parley', version },
    environment,
    filesFor: (agentName, initializeResult) =>
      new AgentFiles(files, { agentName, missingFileReadsEmpty: missingFileReadsEmpty(initializeResult) }),
    terminals,
    offers: new ProtocolOffers(),
    mcpServers: mcp.gather,
    signInTerminal,
    remote,
    traceparent: process.env.TRACEPARENT,
    isTrusted: () => workspace.isTrusted,
    restarts: restartsAgents,
    startTimeoutMs,
    afterCancel,
    onTraffic: (key, dir, line) => traffic.note(key, dir, line),
  };
}
