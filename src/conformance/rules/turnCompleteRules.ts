// Rules of the proposal turn_complete.
import { at } from '../../base/untrusted';
import { failed, isOfTurn, isOutput, type Turn } from '../wire/turns';
import { updateIn, updateName, type WireLine } from '../wire/wireLog';
import { breaks, conforms, each, type Finding, notOffered, notShown, type Rule, shown } from './rule';

const PROPOSAL = 'Proposal turn_complete';
const SEMANTICS = `${PROPOSAL}: Semantics`;

export const turnCompleteRules: readonly Rule[] = [
  {
    id: 'turn_complete.advertised',
    rule: 'advertises turn_complete if it sends it',
    place: `${PROPOSAL}: Capability advertisement`,
    judge: ({ turns, offers }) => {
      const sent = turns.flatMap(barriersOf)[0];
      if (!offers.turnComplete)
        return sent ? breaks('sent without being advertised', sent) : notOffered('turn_complete');
      return sent ? conforms('advertised and sent', sent) : notShown('no turn had one');
    },
  },
  once('end', 'a turn that ends', (turn) => !wasStopped(turn) && !failed(turn) && turn.reason !== 'refusal'),
  once('cancel', 'a turn that is cancelled', (turn) => wasStopped(turn) && !failed(turn)),
  once('refusal', 'a turn that ends with a refusal', (turn) => turn.reason === 'refusal'),
  once('error', 'a turn that fails', failed),
  {
    id: 'turn_complete.last',
    rule: 'sends turn_complete after all other updates of the turn',
    place: SEMANTICS,
    judge: sentIn((turn, barrier) => {
      const later = turn.lines.find((line) => line.n > barrier.n && isOfTurn(line));
      return later
        ? breaks(`${updateName(later)} after turn_complete`, turn.prompt.line, barrier, later)
        : conforms('last', turn.prompt.line, barrier);
    }),
  },
  {
    id: 'turn_complete.id',
    rule: 'names the request of the prompt, as a string',
    place: `${PROPOSAL}: Proposed shape (promptRequestId)`,
    judge: sentIn((turn, barrier) => {
      const id = at(updateIn(barrier), 'promptRequestId');
      const ids = [turn.prompt, ...turn.added].map((prompt) => String(prompt.id));
      return typeof id === 'string' && ids.includes(id)
        ? conforms(shown(id), turn.prompt.line, barrier)
        : breaks(`${shown(id)} for the prompt ${shown(turn.prompt.id)}`, turn.prompt.line, barrier);
    }),
  },
  {
    id: 'turn_complete.reason',
    rule: 'gives the reason that the prompt is answered with',
    place: `${PROPOSAL}: Proposed shape (stopReason)`,
    judge: sentIn((turn, barrier) => {
      const reason = at(updateIn(barrier), 'stopReason');
      if (failed(turn) || turn.reason === undefined) return undefined;
      return reason === turn.reason
        ? conforms(shown(reason), barrier, turn.end)
        : breaks(`${shown(reason)}, and the turn ended with ${shown(turn.reason)}`, barrier, turn.end);
    }),
  },
];

function once(word: string, which: string, fits: (turn: Turn) => boolean): Rule {
  return {
    id: `turn_complete.${word}`,
    rule: `sends turn_complete exactly once for ${which}`,
    place: SEMANTICS,
    judge: ({ turns, offers }) => {
      if (!offers.turnComplete) return notOffered('turn_complete');
      return each(
        turns.filter((turn) => turn.end !== undefined && fits(turn)),
        judgeCount,
        notShown(`there was no such turn`),
      );
    },
  };
}

function judgeCount(turn: Turn): Finding | undefined {
  const { prompt, end, added, lines } = turn;
  const barriers = barriersOf(turn);
  if (barriers.length > 1 + added.length) return breaks(`${barriers.length} times`, prompt.line, ...barriers);
  if (barriers.length > 0) return conforms('once', prompt.line, barriers[0], end);
  // A refused prompt has no turn.
  return failed(turn) && !lines.some((line) => isOutput(line)) ? undefined : breaks('not sent', prompt.line, end);
}

function sentIn(judge: (turn: Turn, barrier: WireLine) => Finding | undefined): Rule['judge'] {
  return ({ turns, offers }) => {
    const sent = turns.flatMap((turn) => barriersOf(turn).map((barrier) => ({ turn, barrier })));
    if (!offers.turnComplete && sent.length === 0) return notOffered('turn_complete');
    return each(sent, ({ turn, barrier }) => judge(turn, barrier), notShown('it was not sent'));
  };
}

function barriersOf({ lines }: Turn): readonly WireLine[] {
  return lines.filter((line) => updateName(line) === 'turn_complete');
}

function wasStopped({ reason, cancel }: Turn): boolean {
  return cancel !== undefined || reason === 'cancelled';
}
