// Connection errors that a conversation shows.

import { errorText, ParleyError } from '../../base/errors';
import { type Localizable, type LocalizableText, localizable, withoutFullStop } from '../../base/localizable';

export function untrusted(): ParleyError {
  return new ParleyError(
    'untrusted-workspace',
    localizable("Agents run programs and change files, so Parley doesn't start them in an untrusted workspace."),
    { hint: localizable('Trust this workspace to use Parley in it.') },
  );
}

export function readOnlyReason(session: {
  readonly isHeld?: boolean;
  readonly isRecording?: boolean;
}): ParleyError | undefined {
  if (session.isRecording)
    return new ParleyError('recording', localizable('This is a recording. It is read-only, and no agent runs.'));
  return session.isHeld
    ? heldError(localizable('This session is open in another window and read-only here.'))
    : undefined;
}

export function takenOver(): ParleyError {
  return heldError(localizable("Another window took over this session. It's read-only here."));
}

function heldError(message: Localizable): ParleyError {
  return new ParleyError('session-held', message, {
    hint: localizable('Continue there, or close it there and take it over.'),
  });
}

export function startFailure(error: unknown, agent: string): ParleyError {
  if (error instanceof ParleyError) return error;
  return new ParleyError(
    'start-failed',
    localizable("Couldn't start {0}: {1}.", agent, withoutFullStop(errorText(error))),
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

export function isTransient({ code }: { readonly code: string }): boolean {
  return PASSING.has(code);
}

export function reconnectLoop({ code, texts }: ParleyError, attempts: number): ParleyError {
  return new ParleyError(code, timesInARow(texts.message, attempts + 1), {
    hint: localizable('Parley stopped reconnecting. Check the server, then reconnect.'),
  });
}

function timesInARow(sentence: LocalizableText, times: number): Localizable {
  return localizable('{0} ({1} times in a row).', withoutFullStop(sentence), times);
}

export function restartLoop(error: ParleyError, attempts: number): ParleyError {
  const { code, texts, stderr } = error;
  return new ParleyError('restart-loop', timesInARow(texts.message, attempts + 1), {
    hint: localizable('Automatic restart is off after repeated crashes. See the agent output.'),
    stderr: stderr || undefined,
    cause: code,
  });
}
