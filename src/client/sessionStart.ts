// From an agent's definition to a session that can be used: the six stages, in their order.

import type { AuthMethod, SessionOffer, SessionPlace } from '../acp/dialect';
import type { RpcHandlers } from '../acp/rpcConnection';
import { RpcError, rpcCodes } from '../acp/rpcError';
import { sendReady } from '../acp/sessionReady';
import type { AgentDefinition } from '../agents/agentDefinition';
import type { SessionEvent } from '../session/event';
import { AgentLink } from './agentLink';
import type { ConversationServices } from './services';
import { type Deadlines, deadlinesFor, type Stages } from './stages';

export interface StartContext {
  readonly key: string;
  readonly agent: AgentDefinition;
  readonly cwd: string;
  readonly services: ConversationServices;
  readonly stages: Stages;
  readonly onRequest: RpcHandlers['onRequest'];
  readonly onUpdates: (updates: readonly unknown[]) => void;
  readonly apply: (event: SessionEvent) => void;
  /** The agent has named the session: its requests may come with the very next message. */
  readonly onNamed: (sessionId: string) => void;
}

/** What opening a session led to. */
export type Opened =
  | { readonly kind: 'ready'; readonly sessionId: string }
  | { readonly kind: 'authRequired'; readonly methods: readonly AuthMethod[]; readonly error?: string };

/** Stages `resolve`, `spawn`, `initialize`. @throws ParleyError, with nothing left running. */
export function startAgent(context: StartContext, signal: AbortSignal): Promise<AgentLink> {
  const { key, agent, cwd, services, stages, onRequest } = context;
  const { log, client, environment, onTraffic } = services;
  return AgentLink.open(
    {
      agent,
      cwd,
      environment,
      client,
      log,
      onRequest,
      onTraffic: onTraffic && ((dir, line) => onTraffic(key, dir, line)),
    },
    stages,
    deadlines(context),
    signal,
  );
}

/** Stages `session` and `ready`. @throws ParleyError, RpcError; the agent still runs then. */
export async function openSession(context: StartContext, link: AgentLink, signal: AbortSignal): Promise<Opened> {
  const { stages, cwd } = context;
  const place: SessionPlace = { cwd, additionalDirectories: [], mcpServers: [] };
  const open = (stop: AbortSignal) => link.until((inner) => link.dialect.newSession(place, inner), stop);
  let opened: SessionOffer;
  try {
    opened = await stages.run('session', deadlines(context).session, signal, open);
  } catch (error) {
    if (!(error instanceof RpcError && error.code === rpcCodes.authRequired)) throw error;
    const methods = link.description.authMethods;
    stages.awaitUser('sign-in');
    return { kind: 'authRequired', methods, ...(methods.length === 0 && { error: error.message }) };
  }
  const { sessionId } = opened;
  context.onNamed(sessionId);
  // What the response says is applied first, then what came before it, in order; only then does anything else follow.
  applyOffer(context, opened);
  const early = link.router.register(sessionId, context.onUpdates);
  if (early > 0) context.services.log.debug(`${early} early updates of session ${sessionId} applied`);
  if (link.description.features.ready) {
    await stages.run('ready', deadlines(context).ready, signal, (stop) =>
      link.until(() => sendReady(link.rpc, sessionId), stop),
    );
  } else stages.skip('ready');
  link.throwIfEnded();
  return { kind: 'ready', sessionId };
}

/** Stage `sign-in` (section 1.9). @throws RpcError, ParleyError */
export async function signIn(
  context: StartContext,
  link: AgentLink,
  methodId: string,
  signal: AbortSignal,
): Promise<void> {
  await context.stages.run('sign-in', deadlines(context)['sign-in'], signal, (stop) =>
    link.until((inner) => link.dialect.login(methodId, inner), stop),
  );
}

function applyOffer({ apply }: StartContext, { modes, config, commands }: SessionOffer): void {
  if (config) apply({ type: 'config', options: config });
  if (modes) apply({ type: 'modes', ...modes });
  if (commands) apply({ type: 'commands', commands });
}

function deadlines({ services }: StartContext): Deadlines {
  return deadlinesFor(services.startTimeoutMs());
}
