// The errors that a conversation shows.
import * as l10n from '@vscode/l10n';
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { messageOf, ParleyError } from '../../base/errors';

/** Why nothing runs in this workspace. */
export function untrusted(): ParleyError {
  return new ParleyError(
    'untrusted-workspace',
    l10n.t("Agents run programs and change files, so Parley doesn't start them in an untrusted workspace."),
    { hint: l10n.t('Trust this workspace to use Parley in it.') },
  );
}

/** Why a session that another window has is only read here. */
export function heldElsewhere(): ParleyError {
  return new ParleyError('session-held', l10n.t('This session is open in another window and read-only here.'), {
    hint: l10n.t('Continue there, or close it there and take it over.'),
  });
}

/** Why a session is only read here from now on. */
export function takenOver(): ParleyError {
  return new ParleyError('session-held', l10n.t("Another window took over this session. It's read-only here."), {
    hint: l10n.t('Continue there, or close it there and take it over.'),
  });
}

/** Why an agent could not be started, as the user reads it. */
export function startFailure(error: unknown, agent: string): ParleyError {
  if (error instanceof ParleyError) return error;
  return new ParleyError(
    'start-failed',
    l10n.t("Couldn't start {0}: {1}.", agent, messageOf(error).replace(/\.$/, '')),
    {
      cause: error,
    },
  );
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
    const hint = error.code === RPC_CODES.authRequired ? l10n.t('Sign in to send the message again.') : undefined;
    return { code: `agent-error ${error.code}`, message, ...(hint && { hint }) };
  }
  if (!(error instanceof ParleyError)) return { code: 'agent-error', message };
  const { code, hint } = error;
  return { code, message, ...(hint && { hint }) };
}

/** An agent ends again and again as soon as it is started. */
export function restartLoop(error: ParleyError, attempts: number): ParleyError {
  const { code, message, stderr } = error;
  return new ParleyError(
    'restart-loop',
    l10n.t('{0} ({1} times in a row).', message.replace(/\.$/, ''), attempts + 1),
    {
      hint: l10n.t('Automatic restart is off after repeated crashes. See the agent output.'),
      ...(stderr && { stderr }),
      cause: code,
    },
  );
}
