// Rules for `session/list`, `session/load`, `session/resume` and `session/close`.
import { isAbsolute, posix, win32 } from 'node:path';
import { at } from '../../base/untrusted';
import { type Call, errorCode, type Life, resultOf, sessionOfCall, succeeded } from '../wire/life';
import { isOutput, isUserMessage, stateIn, strayPrompts } from '../wire/turns';
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

const SETUP = { 1: 'Protocol version 1, Session setup', 2: 'Protocol version 2, Session setup' };
const LOADING = `${SETUP[1]}: Loading sessions`;

export const sessionRules: readonly Rule[] = [
  {
    id: 'list.sessions',
    group: 'list',
    rule: 'lists its sessions, each with an id and an absolute folder',
    place: { 1: 'Protocol version 1, Session list', 2: 'Protocol version 2, Session list' },
    judge: (seen) =>
      offered(seen, 'list', 'session/list', (call) => {
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
    group: 'load',
    rule: 'repeats the conversation before it answers session/load',
    place: LOADING,
    version: 1,
    judge: (seen) =>
      offered(seen, 'load', 'session/load', (call) => {
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
    group: 'load',
    rule: 'repeats nothing after it has answered session/load',
    place: LOADING,
    version: 1,
    judge: (seen) =>
      offered(seen, 'load', 'session/load', (call) => {
        const late = untilPrompt(seen, call).find((line) => isUserMessage(line) || isOutput(line));
        return late
          ? breaks('a message after the answer', call.line, call.answer, late)
          : conforms('nothing after the answer', call.line, call.answer);
      }),
  },
  {
    id: 'load.works',
    group: 'load',
    rule: 'takes prompts in a session that was loaded',
    place: LOADING,
    version: 1,
    judge: (seen) => works(seen, 'load', 'session/load'),
  },
  {
    id: 'resume.silent',
    group: 'resume',
    rule: 'repeats no messages when a session is resumed',
    place: { 1: `${SETUP[1]}: Resuming sessions`, 2: `${SETUP[2]}: Resuming sessions` },
    judge: (seen) =>
      offered(seen, 'resume', 'session/resume', (call) => {
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
    group: 'resume',
    rule: 'tells the state of the session before it answers session/resume',
    place: `${SETUP[2]}: Current-state synchronization`,
    version: 2,
    judge: (seen) =>
      offered(seen, 'resume', 'session/resume', (call) => {
        const state = during(seen, call).find((line) => stateIn(line) !== undefined);
        return state
          ? conforms('a state', call.line, state, call.answer)
          : breaks('no state before the answer', call.line, call.answer);
      }),
  },
  {
    id: 'resume.works',
    group: 'resume',
    rule: 'takes prompts in a session that was resumed',
    place: { 1: `${SETUP[1]}: Resuming sessions`, 2: `${SETUP[2]}: Resuming sessions` },
    judge: (seen) => works(seen, 'resume', 'session/resume'),
  },
  {
    id: 'close.answer',
    group: 'close',
    rule: 'closes a session',
    place: { 1: `${SETUP[1]}: Closing sessions`, 2: `${SETUP[2]}: Closing sessions` },
    judge: (seen) => offered(seen, 'close', 'session/close', (call) => conforms('closed', call.line, call.answer)),
  },
  {
    id: 'close.cancels',
    group: 'close',
    rule: 'cancels the work of a session that is closed',
    place: {
      1: 'Protocol version 1, schema: CloseSessionRequest',
      2: 'Protocol version 2, schema: CloseSessionRequest',
    },
    judge: (seen) =>
      offered(seen, 'close', 'session/close', (call) => {
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
    group: 'close',
    rule: 'takes no prompt in a session that was closed',
    place: {
      1: 'Protocol version 1, schema: CloseSessionRequest',
      2: 'Protocol version 2, schema: CloseSessionRequest',
    },
    judge: (seen) =>
      offered(seen, 'close', 'session/close', (call) => {
        const id = sessionOfCall(call);
        const prompt = lifeWith(seen, call.line)
          .flatMap(strayPrompts)
          .find((one) => sessionOfCall(one) === id && one.line.n > call.line.n);
        if (!prompt) return undefined;
        const code = errorCode(prompt);
        if (code !== undefined) return conforms(`error ${code}`, call.line, prompt.line, prompt.answer);
        return (
          unanswered(prompt) ??
          (prompt.answer && breaks('the prompt was accepted', call.line, prompt.line, prompt.answer))
        );
      }),
  },
  {
    id: 'close.silent',
    group: 'close',
    rule: 'sends nothing more for a session that was closed',
    place: 'Protocol version 2, schema: CloseSessionRequest',
    version: 2,
    judge: (seen) =>
      offered(seen, 'close', 'session/close', (call) => {
        const id = sessionOfCall(call);
        const late = lifeWith(seen, call.line)
          .flatMap(({ lines }) => lines)
          .find((line) => line.dir === 'received' && line.n > (call.answer?.n ?? 0) && sessionOf(line) === id);
        return late
          ? breaks('a message for the closed session', call.line, call.answer, late)
          : conforms('nothing', call.line, call.answer);
      }),
  },
];

type Method = 'list' | 'load' | 'resume' | 'close';

/** Judges the calls of a method that must be advertised; each has to succeed. */
function offered(seen: Seen, offer: Method, method: string, judge: (call: Call) => Finding | undefined): Finding {
  if (!seen.offers[offer]) return notOffered(method);
  return each(
    seen.calls(method),
    (call) => {
      const late = unanswered(call, lifeWith(seen, call.line)[0]);
      if (late) return late;
      if (!call.answer) return undefined;
      return succeeded(call) ? judge(call) : breaks(`${method} failed`, call.line, call.answer);
    },
    notShown(`${method} was not tried like this`),
  );
}

function works(seen: Seen, offer: Method, method: string): Finding {
  return offered(seen, offer, method, (call) => {
    const turn = seen.turns.find(
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

function lifeWith({ lives }: Seen, line: WireLine): readonly Life[] {
  return lives.filter(({ lines }) => lines[0]?.life === line.life);
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
  return lifeWith(seen, call.line).flatMap(({ lines }) => lines.filter((line) => sessionOf(line) === id));
}

/** Whether the session of a call had a turn before, so that there is something to repeat. */
function wasPrompted({ turns }: Seen, call: Call): boolean {
  return turns.some(
    ({ sessionId, prompt, end }) =>
      sessionId === sessionOfCall(call) && prompt.line.n < call.line.n && end !== undefined,
  );
}

function isFolder(value: unknown): boolean {
  return typeof value === 'string' && (isAbsolute(value) || posix.isAbsolute(value) || win32.isAbsolute(value));
}
