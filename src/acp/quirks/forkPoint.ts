// Forks a session at a message. claude-agent-acp and codex-acp read the message from `_meta` of
// `session/fork`, and announce nothing. Other agents ignore it and fork at the end, which their
// answer doesn't tell. So each is first asked for a message that can't exist: only an agent that
// refuses it by name reads the message. What the others fork then is deleted, and those that can't
// delete sessions aren't asked.

import { randomUUID } from 'node:crypto';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { RPC_CODES, RpcError } from '../jsonrpc/rpcError';
import type { AgentFeatures, SessionOffer, SessionSetup, StoredSessions } from '../protocol/dialect';

export interface ForkPoint {
  readonly sessionId: string;
  /** The agent's id of a message of its own, the last one that the fork knows. */
  readonly messageId: string;
}

/**
 * @throws ParleyError `cannot-fork-at` if the agent doesn't read the message, doesn't know it, or
 * can't be asked; RpcError if it refuses for another reason
 */
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
    if (names(error, unknownId)) return undefined;
    throw isSignIn(error) ? error : refusal(name, error);
  });
  if (!stray)
    return sessions.fork(sessionId, setup, signal, pointOf(messageId)).catch((error: unknown) => {
      throw names(error, messageId) ? refusal(name, error) : error;
    });
  const cause = stray.sessionId !== sessionId && (await sessions.delete(stray.sessionId, signal).catch(String));
  throw new ParleyError('cannot-fork-at', ignored, { cause });
}

function pointOf(messageId: string): Readonly<Record<string, unknown>> {
  return { jetbrains: { air: { fork: { version: 1, messageId } } } };
}

function names(error: unknown, messageId: string): boolean {
  return error instanceof RpcError && JSON.stringify([error.message, error.data]).includes(messageId);
}

function isSignIn(error: unknown): boolean {
  return error instanceof RpcError && error.code === RPC_CODES.authRequired;
}

/** MCP servers have nothing to do with it. */
function refusal(name: string, error: unknown): unknown {
  if (!(error instanceof RpcError)) return error;
  const why = localizable("{0} couldn't fork the session: {1}.", name, error.message.replace(/\.$/, ''));
  return new ParleyError('cannot-fork-at', why, { cause: error });
}
