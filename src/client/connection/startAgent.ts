// Starts or connects to an agent and initializes it. openSession.ts follows.

import type { RpcHandlers } from '../../acp/jsonrpc/rpcConnection';
import type { StateHolder } from '../../acp/proposals/sessionState';
import type { AgentDefinition, ProcessAgent, RemoteAgent } from '../../agents/agentDefinition';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { TrafficKind } from '../../traffic/trafficLog';
import type { CommunicationChat } from '../http/communicationChat';
import { CommunicationLink } from '../http/communicationLink';
import type { ToolSession } from '../mcp/editorTools';
import type { ServerRefusals } from '../mcp/serverRefusals';
import type { AgentKeys } from '../ports/agentKeys';
import type { AgentLink } from '../ports/agentLink';
import { NO_CAPABILITIES } from '../ports/clientCapabilities';
import type { SignInTerminal, SystemPrompt } from '../ports/ports';
import type { AgentKeepers, ProcessStarter } from '../transport/agentTransport';
import type { ProtocolOffers } from '../transport/protocolOffers';
import type { RemoteAccess } from '../transport/remoteTarget';
import { type LinkOptions, RpcLink } from '../transport/rpcLink';
import type { Stages } from '../transport/stages';
import type { ReplayedSession } from './sessionReplay';
import type { RememberedChoices } from './shownChoices';

export interface LinkServices {
  readonly log: Log;
  readonly client: { readonly name: string; readonly title: string; readonly version: string };
  /** The user's environment, with the PATH of their login shell. */
  readonly environment: (command: string) => Promise<Record<string, string>>;
  readonly offers?: ProtocolOffers;
  readonly startProcess?: ProcessStarter;
  /** Absent: terminal methods are shown but can't be chosen. */
  readonly signInTerminal?: SignInTerminal;
  /** Absent: remote agents get no secrets and only encrypted connections. */
  readonly remote?: RemoteAccess;
  /** VS Code's W3C traceparent; an agent's own environment overrides it. */
  readonly traceparent?: string | undefined;
  /**
   * Stores the state of a session for its agent.
   * @param key of the conversation
   */
  readonly agentState?: (key: string) => StateHolder | undefined;
  readonly onTraffic?: (sessionKey: string, kind: TrafficKind, line: string) => void;
  /** The agent only answers a question, without access to this machine. */
  readonly isOnlyAsked?: true;
  /** Whether suggested prompts are shown; absent: no. `auto`: without a screen reader. */
  readonly suggestions?: () => 'auto' | 'on' | 'off';
}

export interface StartServices extends LinkServices {
  /** Absent: agents end with their window. */
  readonly keepers?: AgentKeepers | undefined;
  /** May ask the user before an agent starts. Rejects with a ParleyError if they decline. */
  readonly approve?: (agent: AgentDefinition) => Promise<void>;
  readonly keys?: AgentKeys;
  readonly systemPrompt?: SystemPrompt;
  readonly choices?: RememberedChoices;
  readonly startTimeoutMs: () => number;
  readonly serverRefusals?: ServerRefusals;
}

export interface StartContext {
  readonly key: string;
  readonly agent: AgentDefinition;
  /** A stored session's agent may outlive the window. */
  readonly isStored: boolean;
  /**
   * The session is opened after this; undefined: immediately. Rejects if it is no longer wanted.
   */
  readonly beforeOpen: Promise<void> | undefined;
  readonly cwd: string;
  /** Absolute; without `cwd`. */
  readonly additionalDirectories: readonly string[];
  readonly services: StartServices;
  readonly stages: Stages;
  readonly session: AgentSession;
  readonly communication: CommunicationChat;
  /** The session has an id, so requests may follow. Undefined: it wasn't opened. */
  readonly onNamed: (sessionId: string | undefined) => void;
}

/** Stages `resolve`, `spawn`, `initialize`. @throws ParleyError, with nothing left running */
export async function startAgent(context: StartContext, signal: AbortSignal): Promise<AgentLink> {
  const { key, agent, services, stages } = context;
  const { log, remote, onTraffic } = services;
  // The user may take long to answer.
  const { approve, keys } = services;
  if (approve) await stages.run('resolve', signal, () => approve(agent), 'sign-in');
  const onMessage = onTraffic && ((kind: TrafficKind, line: string) => onTraffic(key, kind, line));
  if (agent.type === 'communication') {
    const options = { agent, remote, log, chat: context.communication, onTraffic: onMessage };
    return CommunicationLink.open(options, stages, signal);
  }
  const keyed = keys ? await stages.run('resolve', signal, () => withKeys(agent, keys), 'sign-in') : agent;
  const options = { ...linkOptions(key, keyed, context.cwd, services, context.session), keeper: keeperOf(context) };
  return RpcLink.open(options, stages, signal);
}

/**
 * Attaches to the agent of an earlier window, without delivering anything yet.
 * @throws Error if it has ended or can't be used, for the log
 */
export async function attachAgent(context: StartContext, signal: AbortSignal): Promise<RpcLink> {
  const { agent } = context;
  if (agent.type === 'communication') throw new Error('it is no process');
  const { key, cwd, services, session } = context;
  const keeper = keeperOf(context);
  if (!keeper) throw new Error('its session is not stored');
  return RpcLink.attach({ ...linkOptions(key, agent, cwd, services, session), keeper }, signal);
}

export async function endUnattached(context: StartContext): Promise<void> {
  try {
    await (await attachAgent(context, new AbortController().signal)).close();
  } catch (error) {
    context.services.log.info(`${context.agent.name} could not be ended: ${messageOf(error)}`);
  }
}

/** @param key names the traffic */
export function linkOptions(
  key: string,
  agent: ProcessAgent | RemoteAgent,
  cwd: string,
  services: LinkServices,
  session: Pick<AgentSession, 'request' | 'notification'>,
): LinkOptions {
  const { log, client, environment, offers, remote, onTraffic, startProcess, traceparent } = services;
  const isProcess = agent.type === 'process';
  return {
    ...{ agent, cwd, environment, offers, remote, startProcess, client, log },
    capabilities: services.isOnlyAsked && NO_CAPABILITIES,
    onRequest: session.request,
    onNotification: session.notification,
    traceparent: (isProcess ? agent.env.TRACEPARENT : undefined) ?? traceparent,
    signInTerminal: services.signInTerminal !== undefined && isProcess,
    suggestions: !services.isOnlyAsked && (services.suggestions?.() ?? 'off') !== 'off',
    onTraffic: onTraffic && ((kind: TrafficKind, line: string) => onTraffic(key, kind, line)),
    state: services.agentState?.(key),
  };
}

function keeperOf({ key, agent, cwd, isStored, services }: StartContext): LinkOptions['keeper'] {
  const { keepers } = services;
  const about = { session: key, agentId: agent.id, agentName: agent.name, folder: cwd };
  return isStored && keepers ? { keepers, about } : undefined;
}

export async function withKeys<T extends AgentDefinition>(agent: T, keys: AgentKeys | undefined): Promise<T> {
  if (!keys || agent.type !== 'process') return agent;
  return { ...agent, env: { ...agent.env, ...(await keys.variables(agent)) } };
}

export interface AgentSession extends ReplayedSession, ToolSession {
  readonly request: RpcHandlers['onRequest'];
  readonly notification: RpcHandlers['onNotification'];
}
