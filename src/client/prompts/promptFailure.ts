// Why a prompt failed.
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { at } from '../../base/untrusted';
import type { StoredFailure } from '../turns/turnState';

/** In the agent's own words, with a hint if the code has a meaning here. */
export function promptFailure(error: unknown): StoredFailure {
  const message = messageOf(error);
  if (error instanceof RpcError) {
    const hint = error.code === RPC_CODES.authRequired ? localizable('Sign in to send the message again.') : undefined;
    return { code: `agent-error ${error.code}`, message, hint };
  }
  if (!(error instanceof ParleyError)) return { code: 'agent-error', message };
  return { code: error.code, ...error.texts };
}

/** Two methods, and a new session. */
const MAX_REOPENINGS = 3;

/**
 * Returns whether a refusal (-32002) is about the session, and not about something that the prompt
 * names.
 * @param inVain how often the session was reopened for this prompt; after that only its own id
 * counts
 */
export function isSessionGone(error: unknown, sessionId: string, inVain: number): boolean {
  if (!(error instanceof RpcError) || error.code !== RPC_CODES.resourceNotFound) return false;
  // SDKs put the id into `uri` too.
  const named = [at(error.data, 'sessionId'), at(error.data, 'uri')].filter((id) => id !== undefined);
  return inVain < MAX_REOPENINGS && (named.includes(sessionId) || (named.length === 0 && inVain === 0));
}
