// Opens a session with a running agent: new, reopened, or forked (protocol.md 1.2, 3.5, 5.8).

import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { sendReady } from '../../acp/proposals/sessionReady';
import { required, type SessionOffer, type SessionSetup } from '../../acp/protocol/dialect';
import { forkAt } from '../../acp/quirks/forkPoint';
import { repeatedEvents } from '../../acp/quirks/repeatedPast';
import { messageOf, ParleyError } from '../../base/errors';
import { type LocalizableText, localizable } from '../../base/localizable';
import type { SessionEvent } from '../../session/events/event';
import { ownText } from '../../session/events/ownText';
import { handOver, type McpOffer } from '../mcp/mcpOffer';
import { openWithServers, refusalsOf } from '../mcp/openWithServers';
import type { AgentLink } from '../ports/agentLink';
import { StageTimeout } from '../transport/stages';
import { askStatus } from './askStatus';
import {
  joinMethodFor,
  type OpenMethod,
  openMethodFor,
  otherMethod,
  type SessionOpenStrategy,
} from './sessionOpenStrategy';
import { type ReplayedSession, SessionReplay, type SessionReplayOptions } from './sessionReplay';
import { initialValues, openingChoices } from './shownChoices';
import { type AuthRefusal, signInMethods, signInWithSavedKey } from './signIn';
import type { StartContext } from './startAgent';

const OPTIONS_MS = 5000;

interface OpenRequest {
  readonly opening: SessionOpenStrategy;
  /** Never rejects. */
  readonly mcp: Promise<McpOffer>;
}

export interface ReadySession {
  readonly kind: 'ready';
  readonly sessionId: string;
  /** Which of the user's servers and settings the agent did not get, as sentences. */
  readonly problems: readonly LocalizableText[];
  /** The agent has no earlier messages. */
  readonly isNew: boolean;
  readonly replay: SessionReplay | undefined;
  readonly notForked?: LocalizableText;
}

export type OpenResult = ReadySession | { readonly kind: 'authRequired'; readonly refusal: AuthRefusal };

/**
 * Stages `session` and `ready`.
 * @throws ParleyError; the agent still runs, and the transcript is unchanged unless the agent has
 * begun to repeat it
 */
export async function openSession(
  context: StartContext,
  link: AgentLink,
  request: OpenRequest,
  signal: AbortSignal,
): Promise<OpenResult> {
  const { stages, agent } = context;
  const { features } = link.description;
  const { opening } = request;
  const status =
    opening.kind === 'reopen' && opening.joins
      ? await askStatus({ link, sessionId: opening.sessionId }, signal)
      : undefined;
  const joining = status && joinMethodFor(status, features);
  const way = joining ?? openMethodFor(opening, features, agent.name);
  const handed = handOver(await request.mcp, features, agent);
  const systemPrompt = (features.systemPrompt && context.services.systemPrompt?.(agent.id, context.cwd)) ?? [];
  signal.throwIfAborted();
  const open = async ({ servers }: McpOffer): Promise<OpenedOffer> => {
    context.session.apply(openingChoices(context.session.transcript, agent.id));
    // The whole list goes with every way to open a session: agents don't remember it (section
    // 1.13).
    const base: SessionSetup = {
      cwd: context.cwd,
      additionalDirectories: features.additionalDirectories ? context.additionalDirectories : [],
      mcpServers: servers,
      systemPrompt: systemPrompt.map(({ text }) => text),
    };
    const setup = features.options ? await withOptions(context, link, opening, base, signal) : base;
    return opening.kind === 'reopen'
      ? openExisting(context, link, opening, way, setup, signal)
      : openNew(context, link, opening, setup, signal);
  };
  let opened: OpenedOffer;
  let mcp: McpOffer;
  try {
    const { log } = context.services;
    const { description } = link;
    const hasEnded = (error: unknown): boolean => !link.isAlive || error instanceof StageTimeout;
    const terms = { agent, description, handed, refusals: refusalsOf(context.services), log, hasEnded };
    ({ opened, given: mcp } = await link.router.requests.during(() => openWithServers(terms, open)));
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (error.code !== RPC_CODES.authRequired) throw openFailure(error, opening, agent.name);
    stages.awaitUser('sign-in');
    return { kind: 'authRequired', refusal: error };
  }
  await new Promise((resolve) => setImmediate(resolve));
  const { offer, replay } = opened;
  const { sessionId } = offer;
  const { rpc } = link;
  if (features.ready && rpc) {
    await stages.run('ready', signal, async (stop) => {
      await link.until(() => sendReady(rpc, sessionId), stop);
      // An agent may begin its replay only now.
      if (replay?.isAwaited) await replay.quiet(stop);
    });
  } else stages.skip('ready');
  link.throwIfEnded();
  if (joining) {
    if (!joining.replays && context.session.transcript.entries.length === 0) context.session.apply(JOINED);
    if (status?.state) context.session.reportState(status.state);
  }
  link.given = { ...mcp, systemPrompt };
  return { kind: 'ready', sessionId, problems: mcp.problems, isNew: opening.kind === 'new', replay };
}

const SESSION_LOST: ReadonlySet<string> = new Set(['session-not-found', 'session-not-opened', 'cannot-reopen']);

/** As {@link openInAnyWay}, signing in with the user's saved key if needed. */
export async function openOrBegin(
  context: StartContext,
  link: AgentLink,
  request: OpenRequest,
  signal: AbortSignal,
  begins: () => void,
): Promise<OpenResult> {
  const opened = await openInAnyWay(context, link, request, signal, begins);
  if (opened.kind === 'ready') return opened;
  const methods = signInMethods(link, opened.refusal, context.agent);
  if (!(await signInWithSavedKey(context, link, methods, signal))) return opened;
  return openInAnyWay(context, link, request, signal, begins);
}

/**
 * As {@link openSession}, with fallbacks: a session that can't be joined is opened. If the
 * transcript is stored here, the agent's other method is tried, then a new session that gets the
 * transcript; likewise if the agent can't fork at a message.
 * @param begins called before a new session is begun
 */
async function openInAnyWay(
  context: StartContext,
  link: AgentLink,
  request: OpenRequest,
  signal: AbortSignal,
  begins: () => void,
): Promise<OpenResult> {
  const { opening, mcp } = request;
  try {
    return await openSession(context, link, request, signal);
  } catch (error) {
    if (opening.kind === 'fork' && opening.messageId !== undefined && error instanceof ParleyError && link.isAlive) {
      signal.throwIfAborted();
      context.services.log.warn(`${error.message} A new session is begun.`);
      const opened = await openSession(context, link, { opening: { kind: 'new' }, mcp }, signal);
      return opened.kind === 'ready' ? { ...opened, notForked: error.texts.message } : opened;
    }
    const isLost = error instanceof ParleyError && SESSION_LOST.has(error.code);
    if (!isLost || opening.kind !== 'reopen' || !link.isAlive) throw error;
    const { log } = context.services;
    if (opening.joins) {
      log.warn(`${error.message} The session is not joined, but opened.`);
      const { joins: _, ...opens } = opening;
      return openInAnyWay(context, link, { opening: opens, mcp }, signal, begins);
    }
    if (opening.transcript !== 'keep') throw error;
    const other = otherMethod(opening, link.description.features);
    if (other) {
      log.warn(`${error.message} It is opened in another way.`);
      return openInAnyWay(context, link, { opening: other, mcp }, signal, begins);
    }
    log.warn(`${error.message} A new session is begun.`);
    begins();
    return openSession(context, link, { opening: { kind: 'new' }, mcp }, signal);
  }
}

interface OpenedOffer {
  readonly offer: SessionOffer;
  readonly replay: SessionReplay | undefined;
}

/** `session/new` and `session/fork`: updates wait until the agent has named the session. */
async function openNew(
  context: StartContext,
  link: AgentLink,
  opening: Exclude<SessionOpenStrategy, { kind: 'reopen' }>,
  setup: SessionSetup,
  signal: AbortSignal,
): Promise<OpenedOffer> {
  const { dialect, router } = link;
  const { session } = context;
  const { apply } = session;
  const offer = await inSessionStage(context, link, `session/${opening.kind}`, signal, (inner) =>
    opening.kind === 'new' ? dialect.newSession(setup, inner) : fork(context, link, opening, setup, inner),
  );
  context.onNamed(offer.sessionId);
  let replay: SessionReplay | undefined;
  if (opening.kind === 'fork') {
    const isHere = session.transcript.entries.length > 0;
    if (isHere) apply(opening.messageId === undefined ? FORKED : FORKED_AT);
    else {
      apply({ type: 'cleared', replay: true });
      apply(openingChoices(session.transcript, context.agent.id));
    }
    // Some agents replay a forked session or a part of it; some don't.
    replay = replayOf(context, link, { compares: isHere, expected: !isHere });
  } else if (session.transcript.entries.length > 0 && !link.description.features.carried)
    apply({ type: 'ids_renewed' });
  withdrawOffer(session);
  applyOffer(session, offer);
  const early = router.register(offer.sessionId, replay?.receive ?? context.session.updates, replay?.takeOver);
  replay?.answered();
  if (early > 0) context.services.log.debug(`${early} early updates of session ${offer.sessionId} applied`);
  return { offer, replay };
}

const FORKED: SessionEvent = {
  type: 'notice',
  own: true,
  severity: 'info',
  title: '',
  said: ownText('forked-session'),
};

const FORKED_AT: SessionEvent = { ...FORKED, said: ownText('forked-at') };

const JOINED: SessionEvent = {
  type: 'notice',
  own: true,
  severity: 'info',
  title: '',
  said: ownText('joined-session'),
};

function fork(
  { agent: { name } }: StartContext,
  { dialect, description: { features } }: AgentLink,
  { sessionId, messageId }: Extract<SessionOpenStrategy, { kind: 'fork' }>,
  setup: SessionSetup,
  signal: AbortSignal,
): Promise<SessionOffer> {
  const sessions = required(dialect.sessions);
  return messageId === undefined
    ? sessions.fork(sessionId, setup, signal)
    : forkAt({ name, features, sessions }, { sessionId, messageId }, setup, signal);
}

function replayOf(
  { session, services }: StartContext,
  { dialect, description }: AgentLink,
  manner: Pick<SessionReplayOptions, 'compares' | 'expected' | 'rejoins'>,
): SessionReplay {
  return new SessionReplay({
    ...manner,
    session,
    dialect,
    log: services.log,
    asSaid: repeatedEvents(description.raw),
  });
}

/** `session/load` and `session/resume`: updates may precede the answer. */
async function openExisting(
  context: StartContext,
  link: AgentLink,
  { sessionId, transcript, catchesUp }: Extract<SessionOpenStrategy, { kind: 'reopen' }>,
  way: OpenMethod,
  setup: SessionSetup,
  signal: AbortSignal,
): Promise<OpenedOffer> {
  const { router, description } = link;
  // An agent may replay although it should not, and nothing may be shown twice. Messages of a
  // server have separate ids and are never repeated.
  const compares = transcript === 'keep' || !way.replays;
  const replay =
    description.features.carried || way.method === 'status'
      ? undefined
      : replayOf(context, link, { compares, expected: way.replays, rejoins: catchesUp || undefined });
  context.onNamed(sessionId);
  try {
    router.register(sessionId, replay?.receive ?? context.session.updates, replay?.takeOver);
    const offer = await inSessionStage(context, link, `session/${way.method}`, signal, async (inner) => {
      const answer = await requestExisting(link, way, sessionId, setup, inner);
      applyOffer(context.session, answer); // later updates are newer
      if (way.replays) {
        replay?.begin();
        await replay?.quiet(inner);
      }
      return answer;
    });
    replay?.answered();
    return { offer, replay };
  } catch (error) {
    replay?.dispose();
    router.unregister(sessionId);
    context.onNamed(undefined);
    throw error;
  }
}

/**
 * @throws ParleyError `session-not-found` if the agent can't open it and doesn't confirm that it
 * has it
 */
async function requestExisting(
  link: AgentLink,
  { method, replays }: OpenMethod,
  sessionId: string,
  setup: SessionSetup,
  signal: AbortSignal,
): Promise<SessionOffer> {
  const { dialect } = link;
  if (method === 'load') return required(dialect.sessions).load(sessionId, setup, signal);
  if (method === 'resume') return dialect.resume(sessionId, setup, replays, signal);
  const { answer } = await askStatus({ link, sessionId }, signal);
  if (answer === 'live') return { sessionId };
  throw new ParleyError('session-not-found', localizable("The agent didn't confirm that it still has the session."));
}

/** Adds the initial values. A session that does not exist yet shows its options from now on. */
async function withOptions(
  { agent, services, session }: StartContext,
  link: AgentLink,
  opening: SessionOpenStrategy,
  setup: SessionSetup,
  signal: AbortSignal,
): Promise<SessionSetup> {
  if (opening.kind !== 'reopen') {
    const origin = opening.kind === 'fork' ? opening.sessionId : undefined;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(OPTIONS_MS)]);
    try {
      const sessions = required(link.dialect.sessions);
      applyOffer(session, await link.until((inner) => sessions.options(setup, origin, inner), limit));
    } catch (error) {
      signal.throwIfAborted();
      link.throwIfEnded();
      services.log.info(`session/options: ${messageOf(error)}`);
    }
  }
  const remembered = opening.kind === 'new' ? services.choices?.of(agent.id) : undefined;
  return { ...setup, options: initialValues(session.transcript, remembered) };
}

/** Names the request in a timeout: a replay without an answer is not a failed start. */
async function inSessionStage<T>(
  context: StartContext,
  link: AgentLink,
  method: string,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await context.stages.run('session', signal, (stop) => link.until(run, stop));
  } catch (error) {
    throw error instanceof StageTimeout ? new StageTimeout(method, error.ms) : error;
  }
}

/**
 * Agents use many error codes for missing sessions (agents.md 15), so their own words are shown.
 */
function openFailure(error: RpcError, opening: SessionOpenStrategy, agent: string): unknown {
  if (opening.kind === 'new') return error;
  const isMissing = error.code === RPC_CODES.resourceNotFound;
  const why = error.message.replace(/\.$/, '');
  return new ParleyError(
    isMissing ? 'session-not-found' : 'session-not-opened',
    opening.kind === 'fork'
      ? localizable("{0} couldn't fork the session: {1}.", agent, why)
      : localizable("{0} couldn't open the session: {1}.", agent, why),
    {
      hint: isMissing
        ? localizable('It may have been deleted. Start a new session.')
        : localizable('Try again, or start a new session.'),
      cause: error,
    },
  );
}

export function applyOffer({ apply }: Pick<ReplayedSession, 'apply'>, { modes, config, commands }: SessionOffer): void {
  if (config) apply({ type: 'config', options: config });
  if (modes) apply({ type: 'modes', ...modes });
  if (commands) apply({ type: 'commands', commands });
}

export function withdrawOffer({ apply, transcript }: Pick<ReplayedSession, 'apply' | 'transcript'>): void {
  const { modes, config } = transcript;
  if (config.length > 0) apply({ type: 'config', options: [] });
  if (modes.length > 0) apply({ type: 'modes', current: '', modes: [] });
}
