// Rules of the prompt lifecycle: of version 2, and of agents that preview it in version 1.
import { at } from '../../base/untrusted';
import { type Call, errorCode, resultOf, succeeded } from '../wire/life';
import { isOutput, isUserMessage, stateIn, type Turn } from '../wire/turns';
import { updateIn, type WireLine } from '../wire/wireLog';
import { breaks, conforms, each, type Finding, notOffered, notShown, type Rule, type Seen, shown } from './rule';

const LIFECYCLE = 'Protocol version 2, Prompt lifecycle';

export const lifecycleRules: readonly Rule[] = [
  {
    id: 'lifecycle.receipt',
    rule: 'answers a prompt with the id of the message that it was taken in as',
    place: `${LIFECYCLE}: Prompt accepted`,
    judge: prompts((_, call) => {
      if (!succeeded(call)) return undefined;
      const id = at(resultOf(call), 'messageId');
      return typeof id === 'string'
        ? conforms(shown(id), call.line, call.answer)
        : breaks(`the answer ${shown(resultOf(call))}`, call.line, call.answer);
    }),
  },
  {
    id: 'lifecycle.echo',
    rule: 'repeats the prompt as a message of the user, with the id of the answer',
    place: `${LIFECYCLE}: Prompt accepted`,
    judge: prompts((turn, call) => {
      const id = at(resultOf(call), 'messageId');
      if (typeof id !== 'string') return undefined;
      const messages = turn.lines.filter((line) => line.n > call.line.n && isUserMessage(line));
      const echo = messages.find((line) => at(updateIn(line), 'messageId') === id);
      if (echo) return conforms(shown(id), call.line, echo, call.answer);
      const [other] = messages;
      return breaks(
        other ? `the id ${shown(at(updateIn(other), 'messageId'))} for ${shown(id)}` : 'the prompt was not repeated',
        call.line,
        call.answer,
        other,
      );
    }),
  },
  {
    id: 'lifecycle.running',
    rule: 'reports that it runs before the output of a turn',
    place: `${LIFECYCLE}: Agent starts running`,
    judge: turnsIn((turn, seen) => {
      const output = turn.lines.find((line) => isOutput(line));
      if (!output) return undefined;
      const state = lastState(seen, turn, output);
      return state && stateIn(state)?.state !== 'idle'
        ? conforms(shown(stateIn(state)?.state), turn.prompt.line, state, output)
        : breaks('output while the session is idle', turn.prompt.line, state, output);
    }),
  },
  {
    id: 'lifecycle.idle',
    rule: 'reports the end of a turn once, with a reason',
    place: `${LIFECYCLE}: Completion`,
    judge: turnsIn(({ prompt, lines, end, endless, reason }) => {
      if (endless) return breaks('no idle state', prompt.line, prompt.answer, endless);
      if (!end || !succeeded(prompt)) return undefined;
      if (reason === undefined) return breaks('an idle state without a reason', prompt.line, end);
      const next = lines.find((line) => line.n > end.n && stateIn(line) !== undefined);
      return next && stateIn(next)?.state === 'idle' && stateIn(next)?.stopReason
        ? breaks('a second end', prompt.line, end, next)
        : conforms(shown(reason), prompt.line, end);
    }),
  },
  {
    id: 'lifecycle.held',
    rule: 'gives a prompt that it holds back with error -32800 when the work is cancelled',
    place: `${LIFECYCLE}: Cancellation`,
    judge: prompts(({ cancel, prompt }, call) => {
      const isOpen = cancel && call !== prompt && call.line.n < cancel.n && (!call.answer || call.answer.n > cancel.n);
      if (!isOpen) return undefined;
      if (call.late || !call.answer) return call.late && breaks('no answer', call.line, cancel, call.late);
      const code = errorCode(call);
      if (code === -32800) return conforms('given back', call.line, cancel, call.answer);
      return breaks(code === undefined ? 'taken in after the cancel' : `error ${code}`, call.line, cancel, call.answer);
    }, 'the agent held no prompt'),
  },
];

const NO_LIFECYCLE = notOffered('the prompt lifecycle');

function turnsIn(judge: (turn: Turn, seen: Seen) => Finding | undefined, none = 'no turn showed it'): Rule['judge'] {
  return (seen) => {
    const own = seen.turns.filter(({ isLifecycle }) => isLifecycle);
    if (seen.version === 1 && own.length === 0) return NO_LIFECYCLE;
    return each(own, (turn) => judge(turn, seen), notShown(none));
  };
}

function prompts(judge: (turn: Turn, prompt: Call) => Finding | undefined, none?: string): Rule['judge'] {
  return turnsIn((turn) => {
    const found = each([turn.prompt, ...turn.added], (prompt) => judge(turn, prompt), notShown(''));
    return found.verdict === 'not-shown' ? undefined : found;
  }, none);
}

function lastState({ lives }: Seen, { sessionId }: Turn, before: WireLine): WireLine | undefined {
  return lives
    .flatMap(({ lines }) => lines)
    .findLast(
      (line) =>
        line.n < before.n &&
        line.life === before.life &&
        line.message?.method === 'session/update' &&
        at(line.message, 'params', 'sessionId') === sessionId &&
        stateIn(line) !== undefined,
    );
}
