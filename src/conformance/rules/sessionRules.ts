// Rules for `session/list`, `session/load`, `session/resume` and `session/close`.
import { isAbsolute, posix, win32 } from 'node:path';
import { at } from '../../base/untrusted';
import { type Call, resultOf, sessionOfCall, succeeded } from '../wire/life';
import { isOutput, isUserMessage, stateIn, strayPrompts } from '../wire/turns';
import { sessionOf, type WireLine } from '../wire/wireLog';
import {
  breaks,
  conforms,
  each,
  type Finding,
  inBoth,
  lifeOf,
  notOffered,
  notShown,
  type Rule,
  refuses,
  type Seen,
  shown,
  unanswered,
} from './rule';

const SETUP = inBoth('Session setup');
const LOADING = `${SETUP[1]}: Loading sessions`;

export const sessionRules: readonly Rule[] = [
  {
    id: 'list.sessions',
    rule: 'lists its sessions, each with an id and an absolute folder',
    place: inBoth('Session list'),
    judge: offered('list', (call) => {
      const sessions = at(resultOf(call), 'sessions');
      if (!Array.isArray(sessions)) return breaks(`the sessions ${shown(sessions)}`, call.line, call.answer);
      const wrong = sessions.find((one) => typeof at(one, 'sessionId') !== 'string' || !isFolder(at(one, 'cwd')));
      return wrong === undefined
        ? conforms(`${sessions.length} sessions`, call.line, call.answer)
        : breaks(`the session ${shown(wrong)}`, call.line, call.answer);
    }),
  },
  {
    id: 'load.replay',
    rule: 'repeats the conversation before it answers session/load',
    place: LOADING,
    version: 1,
    judge: offered('load', (call, seen) => {
      const repeated = during(seen, call).filter((line) => isUserMessage(line) || isOutput(line));
      if (!wasPrompted(seen, call)) return undefined;
      const user = repeated.find((line) => isUserMessage(line));
      if (user) return conforms(`${repeated.length} updates`, call.line, user, repeated.at(-1), call.answer);
      return breaks(
        repeated.length > 0 ? "the user's messages are missing" : 'nothing was repeated',
        call.line,
        repeated[0],
        call.answer,
      );
    }),
  },
  {
    id: 'load.order',
    rule: 'repeats nothing after it has answered session/load',
    place: LOADING,
    version: 1,
    judge: offered('load', (call, seen) => {
      const late = untilPrompt(seen, call).find((line) => isUserMessage(line) || isOutput(line));
      return late
        ? breaks('a message after the answer', call.line, call.answer, late)
        : conforms('nothing after the answer', call.line, call.answer);
    }),
  },
  {
    id: 'load.works',
    rule: 'takes prompts in a session that was loaded',
    place: LOADING,
    version: 1,
    judge: works('load'),
  },
  {
    id: 'resume.silent',
    rule: 'repeats no messages when a session is resumed',
    place: inBoth('Session setup: Resuming sessions'),
    judge: offered('resume', (call, seen) => {
      const repeated = [...during(seen, call), ...untilPrompt(seen, call)].find(
        (line) => isUserMessage(line) || isOutput(line),
      );
      return repeated
        ? breaks('a message was repeated', call.line, repeated, call.answer)
        : conforms('nothing repeated', call.line, call.answer);
    }),
  },
  {
    id: 'resume.state',
    rule: 'tells the state of the session before it answers session/resume',
    place: `${SETUP[2]}: Current-state synchronization`,
    version: 2,
    judge: offered('resume', (call, seen) => {
      const state = during(seen, call).find((line) => stateIn(line) !== undefined);
      return state
        ? conforms('a state', call.line, state, call.answer)
        : breaks('no state before the answer', call.line, call.answer);
    }),
  },
  {
    id: 'resume.works',
    rule: 'takes prompts in a session that was resumed',
    place: inBoth('Session setup: Resuming sessions'),
    judge: works('resume'),
  },
  {
    id: 'close.answer',
    rule: 'closes a session',
    place: inBoth('Session setup: Closing sessions'),
    judge: offered('close', (call) => conforms('closed', call.line, call.answer)),
  },
  {
    id: 'close.cancels',
    rule: 'cancels the work of a session that is closed',
    place: inBoth('schema: CloseSessionRequest'),
    judge: offered('close', (call, seen) => {
      const turn = seen.turns.find(({ cancel }) => cancel === call.line);
      if (!turn) return undefined;
      const { prompt, end, endless, reason } = turn;
      if (!end) return breaks('the turn did not end', prompt.line, call.line, call.answer, endless ?? prompt.late);
      return reason === 'cancelled'
        ? conforms('cancelled', prompt.line, call.line, end)
        : breaks(`the turn ended with ${shown(reason)}`, prompt.line, call.line, end);
    }),
  },
  {
    id: 'close.prompt',
    rule: 'takes no prompt in a session that was closed',
    place: inBoth('schema: CloseSessionRequest'),
    judge: offered('close', (call, seen) => {
      const id = sessionOfCall(call);
      const life = lifeOf(seen, call);
      const prompt = life && strayPrompts(life).find((one) => sessionOfCall(one) === id && one.line.n > call.line.n);
      return prompt && refuses(prompt, undefined, call.line);
    }),
  },
  {
    id: 'close.silent',
    rule: 'sends nothing more for a session that was closed',
    place: 'Protocol version 2, schema: CloseSessionRequest',
    version: 2,
    judge: offered('close', (call, seen) => {
      const late = linesOf(seen, call).find((line) => line.dir === 'received' && line.n > (call.answer?.n ?? 0));
      return late
        ? breaks('a message for the closed session', call.line, call.answer, late)
        : conforms('nothing', call.line, call.answer);
    }),
  },
];

type Method = 'list' | 'load' | 'resume' | 'close';

/** Each call must succeed; the method must be advertised. */
function offered(offer: Method, judge: (call: Call, seen: Seen) => Finding | undefined): Rule['judge'] {
  const method = `session/${offer}`;
  return (seen) => {
    if (!seen.offers[offer]) return notOffered(method);
    return each(
      seen.calls(method),
      (call) => {
        const late = unanswered(call, lifeOf(seen, call));
        if (late) return late;
        if (!call.answer) return undefined;
        return succeeded(call) ? judge(call, seen) : breaks(`${method} failed`, call.line, call.answer);
      },
      notShown(`${method} was not tried like this`),
    );
  };
}

function works(offer: Method): Rule['judge'] {
  return offered(offer, (call, { turns }) => {
    const turn = turns.find(
      ({ prompt, sessionId }) =>
        sessionId === sessionOfCall(call) && prompt.line.n > call.line.n && prompt.line.life === call.line.life,
    );
    if (!turn) return undefined;
    const { prompt, end, endless } = turn;
    if (endless || prompt.late) return breaks('the turn did not end', call.line, prompt.line, endless ?? prompt.late);
    if (!end) return undefined;
    return succeeded(prompt)
      ? conforms('a turn', call.line, prompt.line, end)
      : breaks('the prompt failed', call.line, prompt.line, end);
  });
}

function during(seen: Seen, call: Call): readonly WireLine[] {
  const to = call.answer?.n ?? Number.POSITIVE_INFINITY;
  return linesOf(seen, call).filter(({ n }) => n > call.line.n && n < to);
}

function untilPrompt(seen: Seen, call: Call): readonly WireLine[] {
  const from = call.answer?.n ?? Number.POSITIVE_INFINITY;
  const after = linesOf(seen, call).filter(({ n }) => n > from);
  const prompt = after.findIndex(({ message }) => message?.method === 'session/prompt');
  return prompt < 0 ? after : after.slice(0, prompt);
}

function linesOf(seen: Seen, call: Call): readonly WireLine[] {
  const id = sessionOfCall(call);
  return lifeOf(seen, call)?.lines.filter((line) => sessionOf(line) === id) ?? [];
}

/** Whether an earlier turn left something to repeat. */
function wasPrompted({ turns }: Seen, call: Call): boolean {
  return turns.some(
    ({ sessionId, prompt, end }) =>
      sessionId === sessionOfCall(call) && prompt.line.n < call.line.n && end !== undefined,
  );
}

function isFolder(value: unknown): boolean {
  return typeof value === 'string' && (isAbsolute(value) || posix.isAbsolute(value) || win32.isAbsolute(value));
}
