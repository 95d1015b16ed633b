// Forks a session at a message. claude-agent-acp and codex-acp read the message from `_meta` of
// `session/fork` without advertising it; other agents ignore it and silently fork at the end. So
// each agent is first asked to fork at a nonexistent message: only one that refuses it by name
// supports this. Stray forks are deleted; agents that can't delete sessions aren't asked.

import { randomUUID } from 'node:crypto';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { RPC_CODES, RpcError } from '../jsonrpc/rpcError';
import type { AgentFeatures, SessionOffer, SessionSetup, StoredSessions } from '../protocol/dialect';

export interface ForkPoint {
  readonly sessionId: string;
  /** Agent's id of the last message in the fork. */
  readonly messageId: string;
}

/** Throws ParleyError `cannot-fork-at` if the agent can't fork there; RpcError otherwise. */
export async function forkAt(
  agent: { readonly name: string; readonly features: AgentFeatures; readonly sessions: StoredSessions },
  { sessionId, messageId }: ForkPoint,
  setup: SessionSetup,
  signal: AbortSignal,
): Promise<SessionOffer> {
  const { features, sessions, name } = agent;
  const ignored = localizable("{0} can't fork sessions at a message.", name);
  if (!features.delete) throw new ParleyError('cannot-fork-at', ignored);
  const unknownId = randomUUID();
  const withoutServers = { ...setup, mcpServers: [] };
  const stray = await sessions.fork(sessionId, withoutServers, signal, pointOf(unknownId)).catch((error: unknown) => {
    if (mentions(error, unknownId)) return undefined;
    throw isSignIn(error) ? error : refusal(name, error);
  });
  if (!stray)
    return sessions.fork(sessionId, setup, signal, pointOf(messageId)).catch((error: unknown) => {
      throw mentions(error, messageId) ? refusal(name, error) : error;
    });
  const cause = stray.sessionId !== sessionId && (await sessions.delete(stray.sessionId, signal).catch(String));
  throw new ParleyError('cannot-fork-at', ignored, { cause });
}

function pointOf(messageId: string): Readonly<Record<string, unknown>> {
  return { jetbrains: { air: { fork: { version: 1, messageId } } } };
}

function mentions(error: unknown, messageId: string): boolean {
  return error instanceof RpcError && JSON.stringify([error.message, error.data]).includes(messageId);
}

function isSignIn(error: unknown): boolean {
  return error instanceof RpcError && error.code === RPC_CODES.authRequired;
}

/** The MCP servers didn't cause it. */
function refusal(name: string, error: unknown): unknown {
  if (!(error instanceof RpcError)) return error;
  const why = localizable("{0} couldn't fork the session: {1}.", name, error.message.replace(/\.$/, ''));
  return new ParleyError('cannot-fork-at', why, { cause: error });
}
