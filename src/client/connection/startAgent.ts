// Starts an agent, or connects to it, and initializes it: the first stages of a start. Opening its
// session (openSession.ts) is the rest.
import type { StateHolder } from '../../acp/proposals/sessionState';
import type { AgentDefinition, ProcessAgent, RemoteAgent } from '../../agents/agentDefinition';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { TrafficKind } from '../../traffic/trafficLog';
import type { CommunicationChat } from '../http/communicationChat';
import { CommunicationLink } from '../http/communicationLink';
import type { ServerRefusals } from '../mcp/serverRefusals';
import type { AgentKeys } from '../ports/agentKeys';
import type { AgentLink } from '../ports/agentLink';
import { NO_CAPABILITIES } from '../ports/clientCapabilities';
import type { SignInTerminal } from '../ports/ports';
import type { AgentKeepers, ProcessStarter } from '../transport/agentTransport';
import type { ProtocolOffers } from '../transport/protocolOffers';
import type { RemoteAccess } from '../transport/remoteTarget';
import { type LinkOptions, RpcLink } from '../transport/rpcLink';
import { type Deadlines, deadlinesFor, type Stages } from '../transport/stages';
import type { AgentSession } from './agentSession';

/** What a start needs from outside. */
export interface StartServices {
  readonly log: Log;
  readonly client: { readonly name: string; readonly title: string; readonly version: string };
  /**
   * The environment to start an agent's command in: the user's, with the PATH of their login shell.
   */
  readonly environment: (command: string) => Promise<Record<string, string>>;
  /** What the window has learned of the versions that its agents speak. */
  readonly offers?: ProtocolOffers;
  /** Starts processes that nothing keeps; absent: as child processes. */
  readonly startProcess?: ProcessStarter;
  /** Lets agents outlive their window; without it each ends with it. */
  readonly keepers?: AgentKeepers | undefined;
  /**
   * Asked before an agent is started; may ask the user. Rejects with a ParleyError where they do
   * not want it.
   */
  readonly approve?: (agent: AgentDefinition) => Promise<void>;
  /**
   * Runs a sign-in that needs a terminal; without it such methods are shown and cannot be chosen.
   */
  readonly signInTerminal?: SignInTerminal;
  /** The user's keys for agents; without it none are asked for. */
  readonly keys?: AgentKeys;
  /**
   * What only the user can give for agents on other machines; without it they get no secrets and
   * nothing unencrypted.
   */
  readonly remote?: RemoteAccess;
  /**
   * The W3C traceparent that VS Code was started with; an agent's own environment may name another
   * one.
   */
  readonly traceparent?: string | undefined;
  /**
   * Keeps the state of the conversation's session for its agent; without it there is none.
   * @param key of the conversation
   */
  readonly agentState?: (key: string) => StateHolder | undefined;
  /** The user's limit for the slow start stages, in milliseconds. */
  readonly startTimeoutMs: () => number;
  readonly onTraffic?: (sessionKey: string, kind: TrafficKind, line: string) => void;
  /** The agents that open no session with MCP servers. */
  readonly serverRefusals?: ServerRefusals;
  /** The agent is only to answer: it is offered nothing of this machine. */
  readonly isOnlyAsked?: true;
}

export interface StartContext {
  readonly key: string;
  readonly agent: AgentDefinition;
  /** The session is stored: its agent may outlive the window. */
  readonly isStored: boolean;
  /** The session is opened then; undefined: at once. Rejects where it is not wanted any more. */
  readonly begins: Promise<void> | undefined;
  readonly cwd: string;
  /** Folders of the workspace beside `cwd`; absolute. */
  readonly additionalDirectories: readonly string[];
  readonly services: StartServices;
  readonly stages: Stages;
  readonly session: AgentSession;
  /** The session that is the client's own, with HTTP agents. */
  readonly communication: CommunicationChat;
  /**
   * The session has its name: the agent's requests may come with the very next message. Undefined:
   * it was not opened after all.
   */
  readonly onNamed: (sessionId: string | undefined) => void;
}

/** Stages `resolve`, `spawn`, `initialize`. @throws ParleyError, with nothing left running. */
export async function startAgent(context: StartContext, signal: AbortSignal): Promise<AgentLink> {
  const { key, agent, services, stages } = context;
  const { log, remote, onTraffic } = services;
  // The user may be asked whether they want this agent at all, which takes as long as it takes to
  // read.
  if (services.approve) {
    const { approve } = services;
    await stages.run('resolve', deadlines(context)['sign-in'], signal, () => approve(agent));
  }
  const heard = onTraffic && ((kind: TrafficKind, line: string) => onTraffic(key, kind, line));
  if (agent.type === 'communication') {
    const options = { agent, remote, log, chat: context.communication, onTraffic: heard };
    return CommunicationLink.open(options, stages, deadlines(context), signal);
  }
  const { keys } = services;
  const keyed = keys
    ? await stages.run('resolve', deadlines(context)['sign-in'], signal, () => withKeys(agent, keys))
    : agent;
  return RpcLink.open(linkOptions(context, keyed), stages, deadlines(context), signal);
}

/**
 * Attaches to the agent that an earlier window has started for the session; nothing is delivered
 * yet.
 * @throws Error where it is gone or cannot be used, for the log
 */
export async function attachAgent(context: StartContext, signal: AbortSignal): Promise<RpcLink> {
  const { agent } = context;
  if (agent.type === 'communication') throw new Error('it is no process');
  const { keeper, ...options } = linkOptions(context, agent);
  if (!keeper) throw new Error('its session is not stored');
  return RpcLink.attach({ ...options, keeper }, signal);
}

/** Ends the agent that an earlier window has started for the session. Never throws. */
export async function endUnattached(context: StartContext): Promise<void> {
  try {
    await (await attachAgent(context, new AbortController().signal)).close();
  } catch (error) {
    context.services.log.info(`${context.agent.name} could not be ended: ${messageOf(error)}`);
  }
}

function linkOptions(context: StartContext, agent: ProcessAgent | RemoteAgent): LinkOptions {
  const { key, cwd, services, isStored, session } = context;
  const { log, client, environment, offers, remote, onTraffic, signInTerminal, keepers, startProcess } = services;
  const about = { session: key, agentId: agent.id, agentName: agent.name, folder: cwd };
  return {
    agent,
    capabilities: services.isOnlyAsked && NO_CAPABILITIES,
    cwd,
    environment,
    offers,
    remote,
    startProcess,
    client,
    log,
    onRequest: session.request,
    onNotification: session.notification,
    traceparent: (agent.type === 'process' ? agent.env.TRACEPARENT : undefined) ?? services.traceparent,
    signInTerminal: signInTerminal !== undefined && agent.type === 'process',
    onTraffic: onTraffic && ((kind: TrafficKind, line: string) => onTraffic(key, kind, line)),
    state: services.agentState?.(key),
    keeper: isStored && keepers ? { keepers, about } : undefined,
  };
}

/** Returns the agent with the user's keys in its environment, for a start only. */
export async function withKeys<T extends AgentDefinition>(agent: T, keys: AgentKeys): Promise<T> {
  if (agent.type !== 'process') return agent;
  return { ...agent, env: { ...agent.env, ...(await keys.variables(agent)) } };
}

/** What each stage may take, by the user's setting. */
export function deadlines({ services }: StartContext): Deadlines {
  return deadlinesFor(services.startTimeoutMs());
}
