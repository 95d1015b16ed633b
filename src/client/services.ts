// What conversations share: made once by whoever composes the program (the extension, or a test).
import type { AgentDefinition } from '../agents/agentDefinition';
import type { Log } from '../base/log';
import type { FollowOptions } from '../distributed/runRecovery';
import type { MessageRecorder } from '../distributed/sessionPast';
import type { AgentFiles } from './agentFiles';
import type { DescriptorPort } from './communicationRecord';
import type { McpOffer } from './mcpOffer';
import type { Clock, SignInTerminal } from './ports';
import type { ProtocolOffers } from './protocolOffers';
import type { RemoteAccess } from './remoteTarget';
import type { Terminals } from './terminals';

export interface ConversationServices {
  readonly log: Log;
  readonly clock: Clock;
  readonly client: { readonly name: string; readonly title: string; readonly version: string };
  /** What the settings say of an agent now; undefined where it is no longer in them. */
  readonly currentAgent?: (id: string) => AgentDefinition | undefined;
  /** The environment to start an agent's command in: the user's, with the PATH of their login shell. */
  readonly environment: (command: string) => Promise<Record<string, string>>;
  /** Files for an agent, made anew for each because a quirk may need its own reading. */
  readonly filesFor: (agentName: string, initializeResult: unknown) => AgentFiles;
  readonly terminals: Terminals;
  /** What the window has learned of the versions that its agents speak. */
  readonly offers?: ProtocolOffers;
  /** The MCP servers for a session; may ask the user. Rejects only where it is aborted. */
  readonly mcpServers?: (cwd: string, signal: AbortSignal, onAsking: (isAsking: boolean) => void) => Promise<McpOffer>;
  /** Asked before an agent is started; may ask the user. Rejects with a ParleyError where they do not want it. */
  readonly approve?: (agent: AgentDefinition) => Promise<void>;
  /** Runs a sign-in that needs a terminal; without it such methods are shown and cannot be chosen. */
  readonly signInTerminal?: SignInTerminal;
  /** What only the user can give for agents on other machines; without it they get no secrets and nothing unencrypted. */
  readonly remote?: RemoteAccess;
  /** Keeps sessions with HTTP agents over the end of their window. */
  readonly descriptors?: DescriptorPort;
  /** Where the messages of such a session go that no server records. @param key of the conversation */
  readonly messageRecorder?: (key: string) => MessageRecorder;
  /** How patient a run is followed whose stream was lost. */
  readonly follow?: FollowOptions;
  /** The W3C traceparent that VS Code was started with; an agent's own environment may name another one. */
  readonly traceparent?: string | undefined;
  /** Nothing is started while this is false. */
  readonly isTrusted: () => boolean;
  /** The user's limit for the slow start stages, in milliseconds. */
  readonly startTimeoutMs: () => number;
  /** Whether the queue goes on by itself after the user stopped a turn. */
  readonly afterCancel: () => 'pause' | 'continue';
  readonly onTraffic?: (sessionKey: string, dir: 'in' | 'out', line: string) => void;
  /** How long a session must be quiet before it is probed again, in milliseconds. */
  readonly quietMs?: number;
  readonly barrierGraceMs?: number;
  /** How long an answer may trail its turn_complete, in milliseconds. */
  readonly answerGraceMs?: number;
  /** Whether an agent that ended by itself is started again without asking. Absent: it is not. */
  readonly restarts?: () => boolean;
  /** The waits between attempts to connect again, in milliseconds. */
  readonly reconnectDelaysMs?: readonly number[];
}
