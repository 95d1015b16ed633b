// The sentences for what goes wrong in a conversation.
import { RpcError, rpcCodes } from '../acp/rpcError';
import { messageOf, ParleyError } from '../base/errors';

/** Why nothing runs in this workspace. */
export function untrusted(): ParleyError {
  return new ParleyError(
    'untrusted-workspace',
    'Agents run programs and change files, so none is started in a workspace you have not trusted.',
    { hint: 'Trust this workspace to use Parley in it.' },
  );
}

/** Why an agent could not be started, as the user reads it. */
export function startFailure(error: unknown, agent: string): ParleyError {
  if (error instanceof ParleyError) return error;
  return new ParleyError('start-failed', `${agent} could not be started: ${messageOf(error)}.`, { cause: error });
}

/** Why a prompt failed: the agent's own words, and what to do where they mean something to us. */
export function promptFailure(error: unknown): { code: string; message: string; hint?: string } {
  const message = messageOf(error);
  if (error instanceof RpcError) {
    const hint = error.code === rpcCodes.authRequired ? 'Sign in to the agent, then restart it.' : undefined;
    return { code: `agent-error ${error.code}`, message, ...(hint && { hint }) };
  }
  return { code: error instanceof ParleyError ? error.code : 'agent-error', message };
}
