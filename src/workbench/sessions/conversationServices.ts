// The services that conversations of this window share: files and terminals of VS Code, the user's
// environment and settings.
import { join } from 'node:path';
import { type ExtensionContext, workspace } from 'vscode';
import { missingFileReadsEmpty } from '../../acp/quirks/gemini';
import type { Log } from '../../base/log';
import { openFolderStates } from '../../changes/folderStates';
import type { WorkingFiles } from '../../changes/model/workingFiles';
import type { UserEdits } from '../../client/changes/changeServices';
import type { ConversationServices } from '../../client/conversation/conversationOptions';
import type { EditorTools } from '../../client/mcp/editorTools';
import type { FilePort } from '../../client/ports/ports';
import { AgentFiles } from '../../client/requests/agentFiles';
import type { FileStore } from '../../client/sharing/fileStore';
import type { Terminals } from '../../client/terminals/terminals';
import type { AgentKeepers } from '../../client/transport/agentTransport';
import { ProtocolOffers } from '../../client/transport/protocolOffers';
import type { HistoryLinks } from '../../distributed/fetch/historyLinks';
import type { TrafficLog } from '../../traffic/trafficLog';
import type { McpServers } from '../config/mcpServers';
import { permissionRules } from '../config/permissionSettings';
import { rememberedChoices } from '../config/rememberedChoices';
import type { RemoteHeaders } from '../config/remoteHeaders';
import type { SavedKeys } from '../config/savedKeys';
import { serverRefusals } from '../config/serverRefusals';
import { afterCancel, recordsChanges, restartsAgents, startTimeoutMs } from '../config/settings';
import { signInTerminal } from '../editor/signInTerminal';

export interface ServiceParts {
  readonly context: ExtensionContext;
  readonly log: Log;
  readonly files: FilePort;
  readonly userEdits: UserEdits;
  readonly workingFiles: WorkingFiles;
  /** Keeps what waits for review in each session. */
  readonly reviews: FileStore;
  readonly environment: (command?: string) => Promise<Record<string, string>>;
  readonly terminals: Terminals;
  readonly keepers: AgentKeepers;
  readonly approve: NonNullable<ConversationServices['approve']>;
  readonly mcp: McpServers;
  readonly editorTools: EditorTools;
  readonly remote: RemoteHeaders;
  readonly keys: SavedKeys;
  readonly traffic: TrafficLog;
  /** Follows the links of sessions with HTTP agents. */
  readonly historyLinks: (key: string, sessionId: string) => HistoryLinks;
  /** Reads a part of an HTTP agent's answer into its place. */
  readonly readPart: (key: string, gapId: string) => void;
  /** Keeps the descriptors of sessions with HTTP agents. */
  readonly httpSessions: FileStore;
  /** Keeps the states of sessions for their agents. */
  readonly agentState: NonNullable<ConversationServices['agentState']>;
  readonly useEdited: NonNullable<ConversationServices['useEdited']>;
}

/** The folder with the states of all sessions' folders. */
export function changesFolder({ globalStorageUri }: ExtensionContext): string {
  return join(globalStorageUri.fsPath, 'changes');
}

export function conversationServices(parts: ServiceParts): ConversationServices {
  const {
    context,
    log,
    files,
    userEdits,
    environment,
    terminals,
    approve,
    mcp,
    remote,
    keys,
    traffic,
    historyLinks,
    readPart,
    httpSessions,
  } = parts;
  const storage = changesFolder(context);
  const { version } = context.extension.packageJSON as { version: string };
  return {
    log,
    clock: { now: Date.now },
    client: { name: 'parley', title: 'Parley', version },
    environment,
    filesFor: (agentName, initializeResult, given) =>
      new AgentFiles(files, { agentName, missingFileReadsEmpty: missingFileReadsEmpty(initializeResult) }, given),
    terminals,
    keepers: parts.keepers,
    changes: {
      isEnabled: recordsChanges,
      openStates: async (session, roots) =>
        openFolderStates({ session, roots, storage, env: await environment(), log }),
      userEdits,
      reviews: parts.reviews,
      files: parts.workingFiles,
    },
    offers: new ProtocolOffers(),
    choices: rememberedChoices(context),
    approve,
    mcpServers: mcp.gather,
    editorTools: parts.editorTools,
    serverRefusals: serverRefusals(context),
    signInTerminal,
    remote,
    keys,
    descriptors: httpSessions,
    agentState: parts.agentState,
    useEdited: parts.useEdited,
    historyLinks,
    readPart,
    traceparent: process.env.TRACEPARENT,
    permissionRules,
    isTrusted: () => workspace.isTrusted,
    restarts: restartsAgents,
    startTimeoutMs,
    afterCancel,
    onTraffic: (key, kind, line) => traffic.note(key, kind, line, Date.now()),
  };
}
