// Rules of the proposal session/ready.
import { sessionOfCall, succeeded } from '../wire/life';
import { sessionOf } from '../wire/wireLog';
import { breaks, conforms, each, notOffered, notShown, type Rule } from './rule';

const PROPOSAL = 'Proposal session/ready';

export const readyRules: readonly Rule[] = [
  {
    id: 'ready.new',
    rule: 'sends nothing of a new session before session/ready',
    place: `${PROPOSAL}: What we propose to do about it`,
    judge: beforeReady(['session/new']),
  },
  {
    id: 'ready.load',
    rule: 'sends nothing between its answer to session/load or session/resume and session/ready',
    place: `${PROPOSAL}: Client SDK behavior`,
    judge: beforeReady(['session/load', 'session/resume']),
  },
];

function beforeReady(methods: readonly string[]): Rule['judge'] {
  const isNew = methods.includes('session/new');
  return ({ lives, offers }) => {
    if (!offers.ready) return notOffered('session/ready');
    const openings = lives.flatMap((life) =>
      life.calls.filter((call) => methods.includes(call.method) && succeeded(call)).map((call) => ({ life, call })),
    );
    return each(
      openings,
      ({ life, call }) => {
        const id = sessionOfCall(call);
        // What is repeated comes before the answer; of a new session nothing may.
        const from = isNew ? call.line.n : (call.answer?.n ?? 0);
        const about = life.lines.filter((line) => line.n > from && sessionOf(line) === id);
        const ready = about.find(({ dir, message }) => dir === 'sent' && message?.method === 'session/ready');
        if (!ready) return undefined;
        const early = about.find(({ dir, n }) => dir === 'received' && n < ready.n);
        return early
          ? breaks('a message of the session before session/ready', call.line, call.answer, early, ready)
          : conforms('nothing before session/ready', call.line, call.answer, ready);
      },
      isNew || offers.load || offers.resume
        ? notShown('no session was opened')
        : notOffered('session/load or session/resume'),
    );
  };
}
