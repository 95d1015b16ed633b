// Rules of the proposals session/status and session/ready.
import { isDeepStrictEqual } from 'node:util';
import { at } from '../../base/untrusted';
import { type Call, errorCode, type Life, resultOf, sessionOfCall, succeeded } from '../wire/life';
import { sessionOf, type WireLine } from '../wire/wireLog';
import {
  breaks,
  conforms,
  each,
  type Finding,
  notOffered,
  notShown,
  type Rule,
  type Seen,
  shown,
  unanswered,
} from './rule';

const PROPOSAL = 'Proposal session/status';
const LIVE: readonly unknown[] = ['live', 'open'];

export const statusRules: readonly Rule[] = [
  {
    id: 'status.live',
    rule: 'says of a session that it handles that it is live',
    place: `${PROPOSAL}: Proposal`,
    judge: asked((call, life) => {
      if (!isOpenAt(life, call)) return undefined;
      const { line, answer } = call;
      const status = at(resultOf(call), 'status');
      return LIVE.includes(status)
        ? conforms(shown(status), line, answer)
        : breaks(`the answer ${shown(answerOf(call))}`, line, answer);
    }),
  },
  {
    id: 'status.same',
    rule: 'gives the same answer each time, as long as nothing happens to the session',
    place: `${PROPOSAL}: Contract: side-effect-free`,
    judge: runs((calls) => {
      const [first] = calls;
      const other = calls.find((call) => !isDeepStrictEqual(contentOf(call), contentOf(first)));
      return other
        ? breaks(
            `${shown(answerOf(first))}, then ${shown(answerOf(other))}`,
            first?.line,
            first?.answer,
            other.line,
            other.answer,
          )
        : conforms(`${calls.length} equal answers`, first?.line, first?.answer, calls.at(-1)?.answer);
    }),
  },
  {
    id: 'status.silent',
    rule: 'sends no session update because it is asked for the status',
    place: `${PROPOSAL}: Contract: side-effect-free`,
    judge: runs((calls, lines) => {
      const effects = calls.flatMap((call, index) => {
        const next = calls[index + 1]?.line.n ?? Number.POSITIVE_INFINITY;
        return lines.find(({ dir, n }) => dir === 'received' && n > call.line.n && n < next) ?? [];
      });
      const [first, last] = [calls[0]?.line, calls.at(-1)?.answer];
      // A few can have other causes, such as a late list of commands.
      if (effects.length * 2 >= calls.length)
        return breaks(`${effects.length} messages for ${calls.length} questions`, first, ...effects.slice(0, 2));
      if (effects.length > 0) return notShown('other updates came at the same time');
      return conforms(`${calls.length} questions`, first, last);
    }),
  },
  {
    id: 'status.unknown',
    rule: 'says of a session that does not exist that it is not found, each time',
    place: `${PROPOSAL}: Proposal`,
    judge: asked((call, _, seen) => (wasEverOpen(seen, call) ? undefined : notFound(call))),
  },
  {
    id: 'status.closed',
    rule: 'does not say of a closed session that it is live',
    place: `${PROPOSAL}: Proposal`,
    judge: (seen) => {
      if (seen.offers.status && !seen.offers.close) return notOffered('session/close');
      return asked((call, life) => {
        if (!isClosedAt(life, call)) return undefined;
        const status = at(resultOf(call), 'status');
        return LIVE.includes(status)
          ? breaks(shown(status), call.line, call.answer)
          : conforms(shown(answerOf(call)), call.line, call.answer);
      })(seen);
    },
  },
  {
    id: 'status.running',
    rule: 'answers while a turn runs',
    place: `${PROPOSAL}: Contract: cheap, and safe to call frequently`,
    judge: asked((call, _, seen) => {
      const turn = seen.turns.find(({ lines }) => lines.includes(call.line));
      if (!turn || (turn.end && turn.end.n < call.line.n)) return undefined;
      const { line, answer } = call;
      if (turn.end && answer && answer.n > turn.end.n && !turn.cancel)
        return breaks('answered after the turn', line, turn.end, answer);
      return conforms('answered during the turn', turn.prompt.line, line, answer);
    }),
  },
];

/** Judges each `session/status` call. */
function asked(judge: (call: Call, life: Life, seen: Seen) => Finding | undefined): Rule['judge'] {
  return (seen) => {
    if (!seen.offers.status) return notOffered('session/status');
    return each(
      seen.lives.flatMap((life) => statusCalls(life).map((call) => ({ life, call }))),
      ({ life, call }) => unanswered(call, life) ?? (call.answer && judge(call, life, seen)),
      notShown('it was not asked like this'),
    );
  };
}

/** Judges series of calls for one session that no other message interrupts. */
function runs(judge: (calls: readonly Call[], lines: readonly WireLine[]) => Finding): Rule['judge'] {
  return (seen) => {
    if (!seen.offers.status) return notOffered('session/status');
    const series = seen.lives.flatMap((life) => {
      const own = statusCalls(life).filter((call) => call.answer && !isRunning(seen, call));
      return [...Map.groupBy(own, sessionOfCall).entries()].flatMap(([id, calls]) => split(life, id, calls));
    });
    return each(
      series.filter(({ calls }) => calls.length > 1),
      ({ calls, lines }) => judge(calls, lines),
      notShown('it was not asked several times'),
    );
  };
}

function statusCalls({ calls }: Life): readonly Call[] {
  return calls.filter(({ method }) => method === 'session/status');
}

interface Series {
  readonly calls: readonly Call[];
  readonly lines: readonly WireLine[];
}

function split(life: Life, id: string | undefined, calls: readonly Call[]): readonly Series[] {
  const others = life.lines.filter(
    (line) => line.dir === 'sent' && !(line.message?.method === 'session/status' && sessionOf(line) === id),
  );
  const groups = Map.groupBy(calls, (call) => others.filter(({ n }) => n < call.line.n).length);
  return [...groups.values()].map((group) => {
    const from = group[0]?.line.n ?? 0;
    const to = group.at(-1)?.answer?.n ?? 0;
    return { calls: group, lines: life.lines.filter((line) => line.n > from && line.n < to && sessionOf(line) === id) };
  });
}

function isRunning({ turns }: Seen, call: Call): boolean {
  return turns.some(({ lines, end }) => lines.includes(call.line) && (!end || end.n > call.line.n));
}

function contentOf(call: Call | undefined): unknown {
  const result = call && resultOf(call);
  if (typeof result !== 'object' || result === null) return answerOf(call);
  return { ...result, _meta: undefined };
}

function answerOf(call: Call | undefined): unknown {
  return call && (errorCode(call) ?? at(resultOf(call), 'status'));
}

function notFound(call: Call): Finding {
  const answer = answerOf(call);
  return answer === 'not_found' || answer === -32002
    ? conforms(shown(answer), call.line, call.answer)
    : breaks(`the answer ${shown(answer)}`, call.line, call.answer);
}

function isOpenAt(life: Life, call: Call): boolean {
  const id = sessionOfCall(call);
  const opened = life.calls.some((one) => opens(one, id) && (one.answer?.n ?? 0) < call.line.n);
  return opened && !isClosedAt(life, call);
}

function isClosedAt(life: Life, call: Call): boolean {
  const id = sessionOfCall(call);
  return life.calls.some(
    (one) =>
      one.method === 'session/close' &&
      succeeded(one) &&
      sessionOfCall(one) === id &&
      (one.answer?.n ?? 0) < call.line.n,
  );
}

function wasEverOpen({ lives }: Seen, call: Call): boolean {
  const id = sessionOfCall(call);
  return lives.some(({ calls }) => calls.some((one) => opens(one, id)));
}

function opens(call: Call, id: string | undefined): boolean {
  return /^session\/(?:new|load|resume)$/.test(call.method) && succeeded(call) && sessionOfCall(call) === id;
}

const READY = 'Proposal session/ready';

export const readyRules: readonly Rule[] = [
  {
    id: 'ready.new',
    rule: 'sends nothing of a new session before session/ready',
    place: `${READY}: What we propose to do about it`,
    judge: beforeReady(['session/new']),
  },
  {
    id: 'ready.load',
    rule: 'sends nothing between its answer to session/load or session/resume and session/ready',
    place: `${READY}: Client SDK behavior`,
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
        // Replayed messages come before the answer; a new session has none.
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
