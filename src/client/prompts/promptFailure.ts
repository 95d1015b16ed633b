// Why a prompt failed.
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { at } from '../../base/untrusted';
import type { StoredFailure } from '../turns/turnState';

/** Returns why a prompt failed: the agent's own words, and what to do where they mean something to us. */
export function promptFailure(error: unknown): StoredFailure {
  const message = messageOf(error);
  if (error instanceof RpcError) {
    const hint = error.code === RPC_CODES.authRequired ? localizable('Sign in to send the message again.') : undefined;
    return { code: `agent-error ${error.code}`, message, ...(hint && { hint }) };
  }
  if (!(error instanceof ParleyError)) return { code: 'agent-error', message };
  return { code: error.code, ...error.texts };
}

/**
 * Returns whether an agent says of a session that it does not have it (-32002), and not of
 * something that the prompt names.
 */
export function isSessionGone(error: unknown, sessionId: string): boolean {
  if (!(error instanceof RpcError) || error.code !== RPC_CODES.resourceNotFound) return false;
  const named = at(error.data, 'sessionId');
  return named === sessionId || (named === undefined && at(error.data, 'uri') === undefined);
}
