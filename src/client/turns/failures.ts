// The errors that a conversation shows.
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { messageOf, ParleyError } from '../../base/errors';

/** Why nothing runs in this workspace. */
export function untrusted(): ParleyError {
  return new ParleyError(
    'untrusted-workspace',
    'Agents run programs and change files, so none is started in a workspace you have not trusted.',
    { hint: 'Trust this workspace to use Parley in it.' },
  );
}

/** Why a session that another window has is only read here. */
export function heldElsewhere(): ParleyError {
  return new ParleyError('session-held', 'Another window has this session, so it can only be read here.', {
    hint: 'Go on with it there, or close it there and take it over.',
  });
}

/** Why a session is only read here from now on. */
export function takenOver(): ParleyError {
  return new ParleyError('session-held', 'Another window has gone on with this session, so it can only be read here.', {
    hint: 'Go on with it there, or close it there and take it over.',
  });
}

/** Why an agent could not be started, as the user reads it. */
export function startFailure(error: unknown, agent: string): ParleyError {
  if (error instanceof ParleyError) return error;
  return new ParleyError('start-failed', `${agent} could not be started: ${messageOf(error).replace(/\.$/, '')}.`, {
    cause: error,
  });
}

const PASSING: ReadonlySet<string> = new Set([
  'remote-unreachable',
  'remote-lost',
  'connection-lost',
  'connection-closed',
  'stage-timeout',
]);

/**
 * Returns whether a failure to connect may be gone after a while without anybody doing something.
 */
export function mayPass(error: ParleyError): boolean {
  return PASSING.has(error.code);
}

/** Why a prompt failed: the agent's own words, and what to do where they mean something to us. */
export function promptFailure(error: unknown): { code: string; message: string; hint?: string } {
  const message = messageOf(error);
  if (error instanceof RpcError) {
    const hint =
      error.code === RPC_CODES.authRequired ? 'Sign in: the message waits and is sent again then.' : undefined;
    return { code: `agent-error ${error.code}`, message, ...(hint && { hint }) };
  }
  if (!(error instanceof ParleyError)) return { code: 'agent-error', message };
  const { code, hint } = error;
  return { code, message, ...(hint && { hint }) };
}

/** An agent ends again and again as soon as it is started. */
export function restartLoop(error: ParleyError, attempts: number): ParleyError {
  const { code, message, stderr } = error;
  return new ParleyError('restart-loop', `${message.replace(/\.$/, '')}, for the ${attempts + 1}th time in a row.`, {
    hint: 'Automatic restart is off after repeated crashes. See what the agent wrote last.',
    ...(stderr && { stderr }),
    cause: code,
  });
}
