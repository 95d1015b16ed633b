// Forks a session at a message. claude-agent-acp and codex-acp read the message from `_meta` of
// `session/fork`, and announce nothing. Other agents ignore it and fork at the end, which their
// answer doesn't tell. So each is first asked for a message that can't exist: only an agent that
// refuses it by name reads the message. What the others fork then is deleted, and those that can't
// delete sessions aren't asked.

import { randomUUID } from 'node:crypto';
import { ParleyError } from '../../base/errors';
import { type Localizable, localizable } from '../../base/localizable';
import { RPC_CODES, RpcError } from '../jsonrpc/rpcError';
import type { AgentFeatures, SessionOffer, SessionSetup, StoredSessions } from '../protocol/dialect';

export interface ForkPoint {
  readonly sessionId: string;
  /** The agent's id of a message of its own, the last one that the fork knows. */
  readonly messageId: string;
}

/**
 * @throws ParleyError `cannot-fork-at` if the agent doesn't read the message, or can't be asked;
 * RpcError if it refuses
 */
export async function forkAt(
  agent: { readonly name: string; readonly features: AgentFeatures; readonly sessions: StoredSessions },
  { sessionId, messageId }: ForkPoint,
  setup: SessionSetup,
  signal: AbortSignal,
): Promise<SessionOffer> {
  const { features, sessions, name } = agent;
  if (!features.delete) throw refused(localizable("{0} can't fork sessions at a message.", name));
  const nobody = randomUUID();
  let stray: SessionOffer | undefined;
  try {
    stray = await sessions.fork(sessionId, { ...setup, mcpServers: [] }, signal, pointOf(nobody));
  } catch (error) {
    if (!(error instanceof RpcError) || error.code === RPC_CODES.authRequired) throw error;
    const { message, data } = error;
    if (!JSON.stringify([message, data]).includes(nobody))
      throw refused(localizable("{0} couldn't fork the session: {1}.", name, message.replace(/\.$/, '')), error);
  }
  if (!stray) return sessions.fork(sessionId, setup, signal, pointOf(messageId));
  if (stray.sessionId !== sessionId) await sessions.delete(stray.sessionId, signal);
  throw refused(localizable("{0} can't fork sessions at a message.", name));
}

function pointOf(messageId: string): Readonly<Record<string, unknown>> {
  return { jetbrains: { air: { fork: { version: 1, messageId } } } };
}

function refused(why: Localizable, cause?: unknown): ParleyError {
  return new ParleyError('cannot-fork-at', why, { cause });
}
