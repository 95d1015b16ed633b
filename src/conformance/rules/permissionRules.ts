// Rules for `session/request_permission`.
import { at } from '../../base/untrusted';
import type { Call } from '../wire/life';
import { failed, type Turn } from '../wire/turns';
import { breaks, conforms, each, type Finding, inBoth, notShown, type ProtocolVersion, type Rule, shown } from './rule';

const PERMISSION = inBoth('Tool calls: Requesting permission');
const KINDS: readonly unknown[] = ['allow_once', 'allow_always', 'reject_once', 'reject_always'];
const NOT_ASKED = notShown('the agent asked for no permission');

export const permissionRules: readonly Rule[] = [
  {
    id: 'permission.request',
    rule: 'asks for a permission with what it is about, and with options that have an id, a name and a kind',
    place: PERMISSION,
    judge: (seen) =>
      each(
        seen.questions('session/request_permission'),
        (question) => judgeQuestion(question, seen.version),
        NOT_ASKED,
      ),
  },
  {
    id: 'permission.turn',
    rule: 'asks for a permission in a session that is open',
    place: PERMISSION,
    judge: (seen) =>
      each(
        seen.questions('session/request_permission'),
        ({ line, params }) => {
          const id = at(params, 'sessionId');
          return seen.turns.some(({ sessionId, prompt }) => sessionId === id && prompt.line.n < line.n)
            ? conforms('in a turn', line)
            : breaks(`a permission for the session ${shown(id)}`, line);
        },
        NOT_ASKED,
      ),
  },
  {
    id: 'permission.rejected',
    rule: 'goes on after a permission was rejected, and ends its turn',
    place: PERMISSION,
    judge: asked(({ turn, question, cancelled }) => {
      if (cancelled) return undefined;
      if (turn.endless || turn.prompt.late)
        return breaks('the turn did not end', question.line, question.answer, turn.endless ?? turn.prompt.late);
      if (!turn.end) return undefined;
      return failed(turn)
        ? breaks('the turn failed', question.line, question.answer, turn.end)
        : conforms(`the turn ended: ${shown(turn.reason)}`, question.line, question.answer, turn.end);
    }),
  },
  {
    id: 'permission.cancelled',
    rule: 'ends the turn as cancelled if it is cancelled while a permission is open',
    place: {
      1: 'Protocol version 1, Prompt turn: Cancellation',
      2: 'Protocol version 2, Prompt lifecycle: Cancellation',
    },
    judge: asked(({ turn, question, cancelled }) => {
      if (!cancelled) return undefined;
      const { cancel, end, reason, endless, prompt } = turn;
      if (endless || prompt.late)
        return breaks('the turn did not end', question.line, cancel, question.answer, endless ?? prompt.late);
      if (!end) return undefined;
      return reason === 'cancelled'
        ? conforms('cancelled', question.line, cancel, question.answer, end)
        : breaks(`the reason ${shown(reason)}`, question.line, cancel, question.answer, end);
    }),
  },
];

function judgeQuestion({ line, params }: Call, version: ProtocolVersion): Finding {
  const options = at(params, 'options');
  if (!Array.isArray(options) || options.length === 0) return breaks('no options', line);
  for (const option of options) {
    if (typeof at(option, 'optionId') !== 'string' || typeof at(option, 'name') !== 'string')
      return breaks('an option without "optionId" or "name"', line);
    if (!KINDS.includes(at(option, 'kind'))) return breaks(`the kind ${shown(at(option, 'kind'))}`, line);
  }
  const ids = options.map((option) => at(option, 'optionId'));
  if (new Set(ids).size < ids.length) return breaks('two options with one id', line);
  if (version === 1 && typeof at(params, 'toolCall', 'toolCallId') !== 'string')
    return breaks('no "toolCall.toolCallId"', line);
  if (version === 2 && typeof at(params, 'title') !== 'string') return breaks('no "title"', line);
  return conforms('a question with options', line);
}

interface Asked {
  readonly turn: Turn;
  readonly question: Call;
  readonly cancelled: boolean;
}

function asked(judge: (one: Asked) => Finding | undefined): Rule['judge'] {
  return ({ turns, questions }) => {
    const all = turns.flatMap((turn) =>
      questions('session/request_permission')
        .filter(({ line }) => turn.lines.includes(line))
        .map((question): Asked => {
          const outcome = at(question.answer?.message, 'result', 'outcome', 'outcome');
          return { turn, question, cancelled: turn.cancel !== undefined && outcome === 'cancelled' };
        }),
    );
    return each(all, judge, all.length === 0 ? NOT_ASKED : notShown('no permission was answered like this'));
  };
}
