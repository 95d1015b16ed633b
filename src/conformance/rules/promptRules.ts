// Rules for `session/prompt` and `session/cancel`.
import { at } from '../../base/untrusted';
import { resultOf, succeeded } from '../wire/life';
import { isOutput, stateIn, strayPrompts, type Turn, wasCancelled } from '../wire/turns';
import { breaks, conforms, each, type Finding, notShown, type Rule, refuses, shown, unanswered } from './rule';

const REASONS: readonly unknown[] = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'];

const CANCEL = {
  1: 'Protocol version 1, Prompt turn: Cancellation',
  2: 'Protocol version 2, Prompt lifecycle: Cancellation',
};

export const promptRules: readonly Rule[] = [
  {
    id: 'prompt.end',
    rule: 'ends each turn: with the answer to its prompt, or in version 2 with an idle state',
    place: {
      1: 'Protocol version 1, Prompt turn: Check for completion',
      2: 'Protocol version 2, Prompt lifecycle: Completion',
    },
    judge: ({ turns, lives }) =>
      each(
        turns,
        ({ prompt, end, endless }) => {
          const life = lives.find(({ lines }) => lines.includes(prompt.line));
          if (endless) return breaks('the turn did not end in time', prompt.line, prompt.answer, endless);
          const late = unanswered(prompt, life);
          if (late) return late;
          if (end) return conforms('an end', prompt.line, end);
          return life?.ended && breaks('the agent ended during the turn', prompt.line, life.ended);
        },
        notShown('no turn was run'),
      ),
  },
  {
    id: 'prompt.reason',
    rule: `says why a turn ended: ${REASONS.join(', ')}`,
    place: 'Protocol version 1, Prompt turn: Stop reasons',
    version: 1,
    judge: ({ turns }) =>
      each(
        turns.filter(({ isLifecycle }) => !isLifecycle),
        ({ prompt }) => {
          if (!prompt.answer || !succeeded(prompt)) return undefined;
          const reason = at(resultOf(prompt), 'stopReason');
          return REASONS.includes(reason)
            ? conforms(`${shown(reason)}`, prompt.line, prompt.answer)
            : breaks(`the stop reason ${shown(reason)}`, prompt.line, prompt.answer);
        },
        notShown('no turn ended with an answer'),
      ),
  },
  {
    id: 'prompt.output',
    rule: 'answers a prompt with session updates for the session of the prompt',
    place: {
      1: 'Protocol version 1, Prompt turn: Agent reports output',
      2: 'Protocol version 2, Prompt lifecycle: Agent reports output',
    },
    judge: ({ turns, lives }) =>
      each(
        turns.filter((turn) => !wasCancelled(turn) && turn.end !== undefined && succeeded(turn.prompt)),
        ({ prompt, lines, end, sessionId }) => {
          const output = lines.find((line) => isOutput(line));
          if (output) return conforms('output', prompt.line, output);
          const between = lives
            .flatMap((life) => life.lines)
            .filter((line) => line.n > prompt.line.n && line.n < (end?.n ?? 0));
          const astray = between.find((line) => isOutput(line));
          return astray && breaks(`output for another session than ${shown(sessionId)}`, prompt.line, astray);
        },
        notShown('no turn had output'),
      ),
  },
  {
    id: 'prompt.unknown-session',
    rule: 'refuses a prompt for a session that does not exist',
    place: 'Protocol versions 1 and 2, schema: Error codes (-32002 Resource not found, -32602 Invalid params)',
    judge: ({ lives }) =>
      each(
        lives.flatMap((life) =>
          strayPrompts(life)
            .filter((call) => !life.calls.some((one) => wasKnown(one, call)))
            .map((call) => ({ life, call })),
        ),
        ({ life, call }) => refuses(call, life),
        notShown('no such prompt was sent'),
      ),
  },
  {
    id: 'cancel.reason',
    rule: 'ends a turn that is cancelled as cancelled, not with an error',
    place: CANCEL,
    judge: ({ turns }) =>
      each(turns.filter(wasCancelled), judgeCancelled, notShown('no turn ran long enough to be cancelled')),
  },
  {
    id: 'cancel.idle',
    rule: 'does not apply a cancel that came while no turn ran to the next turn',
    place: CANCEL,
    judge: ({ turns, lives, questions }) =>
      each(
        // Rejecting a permission may cancel a turn too.
        turns.filter(
          (turn) =>
            !wasCancelled(turn) &&
            !questions('session/request_permission').some(({ line }) => turn.lines.includes(line)),
        ),
        ({ prompt, sessionId, reason, end }) => {
          const before = lives
            .flatMap(({ lines }) => lines)
            .findLast(
              (line) =>
                line.n < prompt.line.n && line.life === prompt.line.life && isPromptOrCancel(line.message, sessionId),
            );
          if (before?.message?.method !== 'session/cancel' || turns.some(({ cancel }) => cancel === before))
            return undefined;
          if (!end) return undefined;
          return reason === 'cancelled'
            ? breaks('the next turn was cancelled', before, prompt.line, end)
            : conforms('the next turn ran', before, prompt.line, end);
        },
        notShown('no cancel was sent while no turn ran'),
      ),
  },
];

function judgeCancelled(turn: Turn): Finding | undefined {
  const { prompt, cancel, end, endless, reason } = turn;
  if (endless) return breaks('the turn went on', prompt.line, cancel, endless);
  const late = unanswered(prompt);
  if (late) return breaks('the turn went on', prompt.line, cancel, prompt.late);
  if (!end) return undefined;
  if (reason === 'cancelled') return conforms('cancelled', prompt.line, cancel, end);
  const error = stateIn(end)?.error ?? at(end.message, 'error');
  return breaks(
    error === undefined ? `the reason ${shown(reason)}` : `the error ${shown(error)}`,
    prompt.line,
    cancel,
    end,
  );
}

function isPromptOrCancel(message: unknown, sessionId: string): boolean {
  const method = at(message, 'method');
  return (
    (method === 'session/prompt' || method === 'session/cancel') && at(message, 'params', 'sessionId') === sessionId
  );
}

function wasKnown(
  one: { readonly method: string; readonly params: unknown; readonly answer?: unknown },
  prompt: { readonly params: unknown },
): boolean {
  const id = at(prompt.params, 'sessionId');
  const opened =
    one.method === 'session/new' &&
    at((one.answer as { message?: unknown } | undefined)?.message, 'result', 'sessionId') === id;
  return opened || (one.method !== 'session/prompt' && at(one.params, 'sessionId') === id);
}
