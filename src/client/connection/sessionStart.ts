// From an agent's definition to a session that can be used: the six stages, in their order.

import type { RpcHandlers } from '../../acp/jsonrpc/rpcConnection';
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { sendReady } from '../../acp/proposals/sessionReady';
import type { StateHolder } from '../../acp/proposals/sessionState';
import { probeStatus } from '../../acp/proposals/sessionStatus';
import type { AgentFeatures, AuthMethod, Protocol, SessionOffer, SessionSetup } from '../../acp/protocol/dialect';
import { repeatedEvents } from '../../acp/quirks/repeatedPast';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { ParleyError } from '../../base/errors';
import type { Log } from '../../base/log';
import type { SessionEvent } from '../../session/events/event';
import { eventsOf, terminalsOf } from '../../session/model/entryEvents';
import type { Entry, SessionState } from '../../session/model/state';
import type { Transcript } from '../../session/reconcile/reconcile';
import type { CommunicationChat } from '../http/communicationChat';
import { CommunicationLink } from '../http/communicationLink';
import { handOver, type McpOffer } from '../mcp/mcpOffer';
import type { AgentLink } from '../ports/agentLink';
import type { SignInTerminal } from '../ports/ports';
import type { ProtocolOffers } from '../transport/protocolOffers';
import type { RemoteAccess } from '../transport/remoteTarget';
import { RpcLink } from '../transport/rpcLink';
import { type Deadlines, deadlinesFor, type Stages, StageTimeout } from '../transport/stages';
import { SessionReplay, type SessionReplayOptions } from './sessionReplay';

/** How long an agent may take to say whether it still has a session, in milliseconds. */
const STATUS_MS = 5000;

/** What a start needs from outside. */
export interface StartServices {
  readonly log: Log;
  readonly client: { readonly name: string; readonly title: string; readonly version: string };
  /** The environment to start an agent's command in: the user's, with the PATH of their login shell. */
  readonly environment: (command: string) => Promise<Record<string, string>>;
  /** What the window has learned of the versions that its agents speak. */
  readonly offers?: ProtocolOffers;
  /** Asked before an agent is started; may ask the user. Rejects with a ParleyError where they do not want it. */
  readonly approve?: (agent: AgentDefinition) => Promise<void>;
  /** Runs a sign-in that needs a terminal; without it such methods are shown and cannot be chosen. */
  readonly signInTerminal?: SignInTerminal;
  /** What only the user can give for agents on other machines; without it they get no secrets and nothing unencrypted. */
  readonly remote?: RemoteAccess;
  /** The W3C traceparent that VS Code was started with; an agent's own environment may name another one. */
  readonly traceparent?: string | undefined;
  /** Keeps the state of the conversation's session for its agent; without it there is none. @param key of the conversation */
  readonly agentState?: (key: string) => StateHolder | undefined;
  /** The user's limit for the slow start stages, in milliseconds. */
  readonly startTimeoutMs: () => number;
  readonly onTraffic?: (sessionKey: string, dir: 'in' | 'out', line: string) => void;
}

export interface StartContext {
  readonly key: string;
  readonly agent: AgentDefinition;
  readonly cwd: string;
  /** Folders of the workspace beside `cwd`; absolute. */
  readonly additionalDirectories: readonly string[];
  readonly services: StartServices;
  readonly stages: Stages;
  readonly onRequest: RpcHandlers['onRequest'];
  readonly onNotification: RpcHandlers['onNotification'];
  readonly onUpdates: SessionReplayOptions['onUpdates'];
  readonly onState: SessionReplayOptions['onState'];
  readonly apply: (event: SessionEvent) => void;
  /** Why no agent may be started for this conversation now. */
  readonly refuses: () => ParleyError | undefined;
  /** The agent's side of the session has changed. */
  readonly onSession: (facts: {
    readonly agentId?: string;
    readonly agentSessionId?: string | null;
    readonly protocol?: Protocol;
  }) => void;
  /** The session that is the client's own, with HTTP agents. */
  readonly communication: CommunicationChat;
  /** What stands in the transcript. */
  readonly known: () => Transcript;
  /** The agent has repeated the session; called before what is missing here is added. */
  readonly onRepeated: (repeated: readonly Entry[]) => void;
  /** The session has its name: the agent's requests may come with the very next message. Undefined: it was not opened after all. */
  readonly onNamed: (sessionId: string | undefined) => void;
}

/** What is asked of an agent that has started. */
export interface Wanted {
  readonly opening: SessionOpenStrategy;
  /** Never rejects. */
  readonly mcp: Promise<McpOffer>;
}

/** What opening a session led to. */
export type Opened =
  | {
      readonly kind: 'ready';
      readonly sessionId: string;
      /** Sentences on what the agent did not get of what the user has. */
      readonly problems: readonly string[];
      /** The agent knows nothing of what was said before. */
      readonly isNew: boolean;
      /** The past may still be repeated. */
      readonly replay: SessionReplay | undefined;
    }
  | { readonly kind: 'authRequired'; readonly methods: readonly AuthMethod[]; readonly error?: string };

/** Stages `resolve`, `spawn`, `initialize`. @throws ParleyError, with nothing left running. */
export async function startAgent(context: StartContext, signal: AbortSignal): Promise<AgentLink> {
  const { key, agent, cwd, services, stages, onRequest, onNotification } = context;
  const { log, client, environment, offers, remote, onTraffic, signInTerminal } = services;
  // The user may be asked whether they want this agent at all, which takes as long as it takes to read.
  if (services.approve) {
    const { approve } = services;
    await stages.run('resolve', deadlines(context)['sign-in'], signal, () => approve(agent));
  }
  const heard = onTraffic && ((dir: 'in' | 'out', line: string) => onTraffic(key, dir, line));
  if (agent.type === 'communication') {
    const options = { agent, remote, log, chat: context.communication, onTraffic: heard };
    return CommunicationLink.open(options, stages, deadlines(context), signal);
  }
  return RpcLink.open(
    {
      agent,
      cwd,
      environment,
      offers,
      remote,
      client,
      log,
      onRequest,
      onNotification,
      traceparent: (agent.type === 'process' ? agent.env.TRACEPARENT : undefined) ?? services.traceparent,
      signInTerminal: signInTerminal !== undefined && agent.type === 'process',
      onTraffic: heard,
      state: services.agentState?.(key),
    },
    stages,
    deadlines(context),
    signal,
  );
}

/** Stages `session` and `ready`. @throws ParleyError; the agent still runs then, and the transcript stands where it has not begun to repeat it. */
export async function openSession(
  context: StartContext,
  link: AgentLink,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Opened> {
  const { stages, agent } = context;
  const { features, authMethods: methods } = link.description;
  const { opening } = wanted;
  const way = openMethodFor(opening, features, agent.name);
  const mcp = handOver(await wanted.mcp, features, agent.name);
  signal.throwIfAborted();
  // The whole list goes with every way to open a session: an agent remembers none of it (section 1.13).
  const setup: SessionSetup = {
    cwd: context.cwd,
    additionalDirectories: features.additionalDirectories ? context.additionalDirectories : [],
    mcpServers: mcp.servers,
  };
  let opened: OpenedOffer;
  try {
    opened = await (opening.kind === 'reopen'
      ? reopen(context, link, opening, way, setup, signal)
      : begin(context, link, opening, setup, signal));
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (error.code !== RPC_CODES.authRequired) throw openFailure(error, opening, agent.name);
    stages.awaitUser('sign-in');
    return { kind: 'authRequired', methods, ...(methods.length === 0 && { error: error.message }) };
  }
  const { offer, replay } = opened;
  const { sessionId } = offer;
  const { rpc } = link;
  if (features.ready && rpc) {
    await stages.run('ready', deadlines(context).ready, signal, (stop) =>
      link.until(() => sendReady(rpc, sessionId), stop),
    );
  } else stages.skip('ready');
  link.throwIfEnded();
  return { kind: 'ready', sessionId, problems: mcp.problems, isNew: opening.kind === 'new', replay };
}

interface OpenedOffer {
  readonly offer: SessionOffer;
  readonly replay: SessionReplay | undefined;
}

/** `session/new` and `session/fork`: the agent names the session; what it said of it before is kept for it. */
async function begin(
  context: StartContext,
  link: AgentLink,
  opening: Exclude<SessionOpenStrategy, { kind: 'reopen' }>,
  setup: SessionSetup,
  signal: AbortSignal,
): Promise<OpenedOffer> {
  const { dialect, router } = link;
  const { apply } = context;
  const offer = await inSessionStage(context, link, `session/${opening.kind}`, signal, (inner) =>
    opening.kind === 'new' ? dialect.newSession(setup, inner) : dialect.fork(opening.sessionId, setup, inner),
  );
  context.onNamed(offer.sessionId);
  let replay: SessionReplay | undefined;
  if (opening.kind === 'fork') {
    const { past = [] } = opening;
    apply({ type: 'cleared', replay: true });
    for (const event of past) apply(event);
    if (past.length > 0) apply(FORKED);
    // Some agents repeat the past of the session that was forked, or a part of it, some only know it.
    replay = replayOf(context, link, { compares: past.length > 0, expected: past.length === 0 });
  } else if (context.known().entries.length > 0 && !link.description.features.carried) apply({ type: 'ids_renewed' });
  // What the response says is applied first, then what came before it, in order; only then does anything else follow.
  applyOffer(context, offer);
  const early = router.register(offer.sessionId, replay?.take ?? context.onUpdates);
  replay?.answered();
  if (early > 0) context.services.log.debug(`${early} early updates of session ${offer.sessionId} applied`);
  return { offer, replay };
}

/** Where the past of another session ends. */
const FORKED: SessionEvent = {
  type: 'notice',
  own: true,
  severity: 'info',
  title: 'Forked session',
  description: 'Messages above come from the original session. Messages below are not part of it.',
};

function replayOf(
  { onUpdates, onState, onRepeated, known, apply, services }: StartContext,
  { dialect, description }: AgentLink,
  manner: Pick<SessionReplayOptions, 'compares' | 'expected'>,
): SessionReplay {
  const asSaid = repeatedEvents(description.raw);
  const { log } = services;
  return new SessionReplay({ ...manner, dialect, log, asSaid, known, apply, onUpdates, onState, onRepeated });
}

/** `session/load` and `session/resume`: the session has its name already, and is spoken of before the answer. */
async function reopen(
  context: StartContext,
  link: AgentLink,
  { sessionId, transcript }: Extract<SessionOpenStrategy, { kind: 'reopen' }>,
  way: OpenMethod,
  setup: SessionSetup,
  signal: AbortSignal,
): Promise<OpenedOffer> {
  const { router, description } = link;
  // An agent that is not to repeat the past may do so all the same, and then nothing may stand twice. Messages of a server have ids of their own and are repeated by nobody.
  const compares = transcript === 'keep' || !way.replays;
  const replay =
    description.features.carried || way.method === 'status'
      ? undefined
      : replayOf(context, link, { compares, expected: way.replays });
  context.onNamed(sessionId);
  try {
    router.register(sessionId, replay?.take ?? context.onUpdates);
    const offer = await inSessionStage(context, link, `session/${way.method}`, signal, async (inner) => {
      const answer = await openAgain(link, way, sessionId, setup, inner);
      if (way.replays) {
        replay?.begin();
        await replay?.quiet(inner);
      }
      return answer;
    });
    replay?.answered();
    applyOffer(context, offer);
    return { offer, replay };
  } catch (error) {
    replay?.dispose();
    router.unregister(sessionId);
    context.onNamed(undefined);
    throw error;
  }
}

/** @throws ParleyError `session-not-found` where nothing can be opened and the agent does not say that it still has the session */
async function openAgain(
  { dialect, rpc }: AgentLink,
  { method, replays }: OpenMethod,
  sessionId: string,
  setup: SessionSetup,
  signal: AbortSignal,
): Promise<SessionOffer> {
  if (method === 'load') return dialect.load(sessionId, setup, signal);
  if (method === 'resume') return dialect.resume(sessionId, setup, replays, signal);
  const status = rpc && (await probeStatus(rpc, sessionId, STATUS_MS, signal));
  if (status?.answer === 'live') return { sessionId };
  throw new ParleyError('session-not-found', 'The agent does not say that it still has the session.');
}

/** Runs the request that opens a session. A time-out names it: an agent that replays and never answers is another matter than one that does not start. */
async function inSessionStage<T>(
  context: StartContext,
  link: AgentLink,
  method: string,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = deadlines(context).session;
  try {
    return await context.stages.run('session', limit, signal, (stop) => link.until(run, stop));
  } catch (error) {
    throw error instanceof StageTimeout ? new StageTimeout(method, limit) : error;
  }
}

/** Agents say in many codes that they do not have a session (agents.md 15): their own words are shown. */
function openFailure(error: RpcError, opening: SessionOpenStrategy, agent: string): unknown {
  if (opening.kind === 'new') return error;
  const gone = error.code === RPC_CODES.resourceNotFound;
  const what = opening.kind === 'fork' ? 'did not continue the session as a second one' : 'did not open the session';
  return new ParleyError(
    gone ? 'session-not-found' : 'session-not-opened',
    `${agent} ${what}: ${error.message.replace(/\.$/, '')}.`,
    {
      hint: gone ? 'It may have been deleted. Start a new session.' : 'Try again, or start a new session.',
      cause: error,
    },
  );
}

function applyOffer({ apply }: StartContext, { modes, config, commands }: SessionOffer): void {
  if (config) apply({ type: 'config', options: config });
  if (modes) apply({ type: 'modes', ...modes });
  if (commands) apply({ type: 'commands', commands });
}

/** What each stage may take, by the user's setting. */
export function deadlines({ services }: StartContext): Deadlines {
  return deadlinesFor(services.startTimeoutMs());
}

export type SessionOpenStrategy =
  | { readonly kind: 'new' }
  | {
      readonly kind: 'reopen';
      readonly sessionId: string;
      /** `replay`: the transcript is to be rebuilt from what the agent repeats. `keep`: it stands here already. */
      readonly transcript: 'replay' | 'keep';
    }
  | {
      readonly kind: 'fork';
      readonly sessionId: string;
      /** What makes the transcript of the session that is forked, where it stands in this window (pastOf). */
      readonly past?: readonly SessionEvent[];
    };

/** The method that an opening takes with an agent. `replays`: the agent repeats what was said, so the transcript begins empty. */
export type OpenMethod =
  | { readonly method: 'new' | 'fork'; readonly replays: false }
  | { readonly method: 'load'; readonly replays: true }
  /** Nothing is opened: the agent is asked whether it still has the session, and the session is used as it is. */
  | { readonly method: 'status'; readonly replays: false }
  | { readonly method: 'resume'; readonly replays: boolean };

/**
 * Chooses by what the agent can do (protocol.md 1.2, 3.5, 5.8). For a transcript that stands already `session/resume` goes before `session/load`, which would say
 * everything again; where there is none, a way that repeats the past goes first. An agent that can do neither may still have it, and can be asked (4.2).
 * @throws ParleyError `cannot-reopen`, `cannot-fork`
 */
export function openMethodFor(opening: SessionOpenStrategy, features: AgentFeatures, agent: string): OpenMethod {
  if (opening.kind === 'new') return { method: 'new', replays: false };
  if (opening.kind === 'fork') {
    if (features.fork) return { method: 'fork', replays: false };
    throw new ParleyError('cannot-fork', `${agent} cannot continue a session as a second one.`, {
      hint: 'Start a new session instead.',
    });
  }
  const { resume, load, status } = features;
  if (opening.transcript === 'replay' && resume?.replay) return { method: 'resume', replays: true };
  if (resume && (opening.transcript === 'keep' || !load)) return { method: 'resume', replays: false };
  if (load) return { method: 'load', replays: true };
  if (opening.transcript === 'keep' && status) return { method: 'status', replays: false };
  throw new ParleyError('cannot-reopen', `${agent} cannot open a session of an earlier time.`, {
    hint: 'Start a new session instead.',
  });
}

/** Whether an agent can open its sessions again in any way. */
export function canReopen(features: AgentFeatures): boolean {
  return features.load !== undefined || features.resume !== undefined;
}

/** Whether a session whose transcript stands here may go on after its connection has ended: opened again, or as the agent still has it. */
export function mayGoOn(features: AgentFeatures): boolean {
  return canReopen(features) || features.status !== undefined;
}

/** How a conversation that was kept comes by its session again: the transcript stands here already. */
export function strategyFor(kept: { readonly agentSessionId?: string } | undefined): SessionOpenStrategy {
  const sessionId = kept?.agentSessionId;
  return sessionId === undefined ? { kind: 'new' } : { kind: 'reopen', sessionId, transcript: 'keep' };
}

/** Returns what makes the transcript of a session once more, in another one: its turns are the past there. */
export function pastOf(state: Pick<SessionState, 'entries' | 'terminals'>): readonly SessionEvent[] {
  return state.entries.flatMap((entry): SessionEvent[] => {
    if (entry.kind === 'turn_end') return [];
    // By an id of its own, so that two in a row stay two.
    if (entry.kind === 'user')
      return [{ type: 'message', role: 'user', messageId: `origin-${entry.id}`, content: entry.content }];
    return [...terminalsOf(entry, state), ...eventsOf(entry)];
  });
}
