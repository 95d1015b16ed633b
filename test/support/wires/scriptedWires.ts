// Wires that show one thing each: the forms that the proposals have, and the ways in which agents
// depart from them.
// An act is a few words; `+900 ` before it are the milliseconds since the act before.
import { type Act, agentSays, complete, state, text, type Update, type Wire } from './wire';

const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
const broken = { code: -32603, message: 'It broke' };
const ANSWERS: Readonly<Record<string, object>> = {
  nothing: { result: {} },
  null: { result: null },
  usage: { result: { stopReason: 'end_turn', usage } },
  'max_tokens-and-usage': { result: { stopReason: 'max_tokens', usage } },
  broken: { error: broken },
  cancelled: { error: { code: -32800, message: 'Cancelled' } },
  gone: { error: { code: -32002, message: 'Unknown session', data: { sessionId: 'wire-session' } } },
};
const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];

const FORMS: Readonly<Record<string, (...words: string[]) => Act>> = {
  prompt: (...words) => ({ user: 'prompt', text: words.join(' ') }),
  steer: (...words) => ({ user: 'steer', text: words.join(' ') }),
  stop: () => ({ user: 'cancel' }),
  allow: () => ({ user: 'allow', optionId: 'yes' }),
  restart: () => ({ user: 'restart' }),
  exits: () => ({ exits: true }),
  asks: () => ({ asks: { toolCall: { toolCallId: 'c', title: 'Work' }, options } }),
  says: (...words) => ({ says: agentSays(words.join(' ')) }),
  said: (messageId, ...words) => ({ says: agentSays(words.join(' '), { messageId }) }),
  user: (...words) => ({ says: { sessionUpdate: 'user_message_chunk', content: text(words.join(' ')) } }),
  piece: (messageId, ...words) => ({
    says: { sessionUpdate: 'user_message_chunk', messageId, content: text(words.join(' ')) },
  }),
  echo: (messageId, ...words) => ({
    says: { sessionUpdate: 'user_message', messageId, content: [text(words.join(' '))] },
  }),
  call: (status) => ({ says: { sessionUpdate: 'tool_call_update', toolCallId: 'c', title: 'Work', status } }),
  news: () => ({ says: { sessionUpdate: 'usage_update', used: 1, size: 10 } }),
  changes: (word, ...reason) => ({
    says: { ...state(word ?? ''), sessionUpdate: 'state_change', ...(reason[0] && { stopReason: reason[0] }) },
  }),
  running: () => ({ says: state('running') }),
  dreaming: () => ({ says: state('dreaming') }),
  requires_action: () => ({ says: state('requires_action') }),
  idle: (reason, more) => ({
    says: state('idle', {
      ...(reason === 'broken' ? { error: broken } : reason && { stopReason: reason }),
      ...(more && { usage }),
    }),
  }),
  ends: (number, stopReason = 'end_turn') => ({ answers: Number(number), result: { stopReason } }),
  receipt: (number) => ({ answers: Number(number), result: { messageId: `u${number}` } }),
  outcome: (number, outcome) => ({ answers: Number(number), result: { outcome } }),
  answers: (number, what = '') => ({ answers: Number(number), ...ANSWERS[what] }),
  /** `complete [ID or -] [REASON]` */
  complete: (id = '-', stopReason) => ({
    says: complete({ ...(id !== '-' && { promptRequestId: id }), ...(stopReason && { stopReason }) }),
  }),
};

export function acts(words: string): Act[] {
  return words.split(';').map((part) => {
    const [, after = '0', form = '', rest] = /^ *(?:\+(\d+) )?(\S+) ?(.*)$/.exec(part) ?? [];
    const act = FORMS[form]?.(...(rest ? rest.split(' ') : []));
    if (!act) throw new Error(`no such act: ${part}`);
    return { ...act, after: Number(after) };
  });
}

const updates = (words: string): Update[] => acts(words).flatMap((act) => ('says' in act ? [act.says] : []));

const v1 = (words: string): Wire => ({ protocol: 1, can: { loadSession: true }, acts: acts(words) });
const promised = (words: string): Wire => {
  const can = { loadSession: true, sessionCapabilities: { turnComplete: {} } };
  return { protocol: 1, can, acts: acts(words) };
};
const v2 = (words: string): Wire => ({ protocol: 2, can: { session: { resume: { replay: {} } } }, acts: acts(words) });
const steers = (wire: Wire): Wire => ({ ...wire, steers: true });
const turn = (n: number): string =>
  `prompt message ${n}; running; echo u${n} message ${n}; receipt ${n}; said a${n} answer ${n}; idle end_turn`;
const past = (n: number): string => `user old ${n}; says answer ${n}`;
const repeated = acts('prompt one; says hi; ends 1');
const next = acts('prompt two; says ho; ends 2');

export const SCRIPTED_WIRES: Readonly<Record<string, Wire>> = {
  'two turns': v1('prompt one; says hi; ends 1; prompt two; says ho; ends 2 max_tokens'),
  'tokens in the answer': v1('prompt one; answers 1 usage'),
  'an answer without a reason': v1('prompt one; says hi; answers 1 nothing; +1500 says late'),
  'null, and output within a second': v1('prompt one; answers 1 null; +900 says hi; +900 says ho'),
  'an error answer': v1('prompt one; says hi; answers 1 broken; prompt two; ends 2'),
  'a message typed while a turn runs': v1('prompt one; +5 prompt two; says hi; ends 1; says ho; ends 2'),
  'output after the end': v1('prompt one; ends 1; +3000 says late; prompt two; ends 2'),
  'a tool call across the end': v1('prompt one; call in_progress; ends 1; +20 call completed'),
  'a stop': v1('prompt one; says hi; stop; +100 says still; ends 1 cancelled'),
  'a stop that is answered with an error': v1('prompt one; stop; answers 1 broken'),
  'a refusal after a stop': v1('prompt one; stop; ends 1 refusal'),
  'an answered question': v1('prompt one; asks; +5000 allow; call completed; ends 1'),
  'a question that is open when the turn is stopped': v1('prompt one; asks; stop; ends 1 cancelled'),

  'turn_complete before the answer': promised('prompt one; says hi; complete #1; ends 1'),
  'turn_complete after the answer': promised('prompt one; ends 1; +5 says hi; complete #1'),
  'turn_complete that is not promised': v1('prompt one; complete - end_turn; +50 ends 1 max_tokens'),
  'max_tokens after turn_complete': promised('prompt one; complete #1 end_turn; answers 1 max_tokens-and-usage'),
  'no promised turn_complete': promised('prompt one; says hi; ends 1; +15000 prompt two; ends 2'),
  'a promised turn_complete after a long call': promised(
    'prompt one; ends 1; call in_progress; +20000 call completed; +1500 says done; +10 complete #1',
  ),
  'turn_complete of another prompt': promised(
    'prompt one; says hi; complete foreign; says ho; ends 1; +20 complete #1',
  ),
  'turn_complete of the prompt before': promised(
    'prompt one; ends 1; complete #1; prompt two; complete #1; says hi; ends 2; complete #2',
  ),
  'turn_complete twice': promised('prompt one; ends 1; complete #1; complete; prompt two; ends 2'),
  'turn_complete by the numbers of a proxy': promised(
    'prompt one; ends 1; complete p1; +3000 prompt two; ends 2; +10 complete p2; +10 prompt three; ends 3',
  ),
  'no answer after turn_complete': promised('prompt one; complete #1; +20 prompt two; +12000 ends 2'),
  'an error after turn_complete': promised('prompt one; complete #1; answers 1 broken'),
  'a stop after turn_complete': promised('prompt one; complete #1; stop; ends 1'),

  'turn_complete with another reason after the answer': promised(
    'prompt one; ends 1 max_tokens; +10 complete #1 end_turn',
  ),
  'output for long after the answer, and turn_complete': promised(
    'prompt one; ends 1; +9000 says first ;+9000 says second ;+9000 complete #1',
  ),
  'no turn_complete, and news without an end': promised(`prompt one; ends 1; ${'+5000 news; '.repeat(14)}+1 says late`),
  'a call that goes on after its end, and no turn_complete': promised(
    'prompt one; call completed; ends 1; +10 call in_progress; +20000 says late',
  ),
  'an answer without a reason, and then states': v1(
    'prompt one; answers 1 nothing; +500 running; +5000 says hi; idle refusal',
  ),
  'a message that is given back at once': v1('prompt one; answers 1 cancelled'),

  'a v1 receipt, and turn_complete': promised(
    'prompt one; receipt 1; says hi; complete #1; +50 prompt two; receipt 2; +50 complete #2',
  ),
  'a v1 receipt, and states': v1('prompt one; receipt 1; running; says hi; idle refusal'),
  'a v1 receipt, and nothing that ends the turn': v1('prompt one; receipt 1; +50 says hi'),
  'states before an answer without a reason': v1(
    'prompt one; running; answers 1 nothing; +3000 says hi; +3000 idle refusal',
  ),
  'v1 states around an answer': v1('prompt one; running; says hi; ends 1; idle; prompt two; ends 2'),
  "the agent's own turn": v1('running; says I woke up; idle; +5 prompt one; ends 1'),
  "a message in the agent's own turn": v1('running; says working; +5 prompt one; says hi; ends 1; idle'),

  'two turns of v2': v2(`${turn(1)}; ${turn(2)}`),
  "the proposal's word for states": v2('prompt one; changes running; receipt 1; changes idle end_turn'),
  'idle without a reason': v2('prompt one; running; echo u1 one; receipt 1; idle'),
  'idle with an error': v2('prompt one; running; echo u1 one; receipt 1; idle broken'),
  'idle with usage': v2('prompt one; running; echo u1 one; receipt 1; idle end_turn usage'),
  'idle before the receipt': v2('prompt one; running; echo u1 one; idle end_turn; +30 receipt 1'),
  'no echo, and idle before the receipt': v2(
    'prompt one; running; said a1 hi; idle end_turn; +30 receipt 1; +100 prompt two; running; echo u2 two; receipt 2; idle max_tokens',
  ),
  'idle before the echo': v2('prompt one; running; idle; echo u1 one; receipt 1; said a1 hi; +3000 idle'),
  'an idle of before': v2('prompt one; idle end_turn; +10 running; receipt 1; idle'),
  'an unknown state': v2('prompt one; receipt 1; dreaming; said a1 hi; idle end_turn'),
  requires_action: v2('prompt one; receipt 1; running; requires_action; running; idle'),
  'the echo in pieces, with an id': v2('prompt one two; running; piece u1 one ;piece u1 two; receipt 1; idle end_turn'),
  'the echo after the receipt': v2('prompt one; receipt 1; echo u1 one; running; idle'),
  'an echo in other words': v2('prompt one; running; echo u1 One.; receipt 1; idle end_turn'),
  'an echo in other words after the receipt': v2('prompt one; receipt 1; echo u1 One.; running; idle end_turn'),
  'no echo': v2('prompt one; running; receipt 1; said a1 hi; idle'),
  'a second prompt while a turn runs': v2(
    'prompt one; running; echo u1 one; receipt 1; +5 prompt two; said a1 hi; idle end_turn; running; echo u2 two; receipt 2; said a2 ho; idle max_tokens',
  ),
  'a second prompt that joins the turn': v2(
    'prompt one; running; receipt 1; +5 prompt two; echo u2 two; receipt 2; said a1 both; idle end_turn',
  ),
  'a second prompt that is given back': v2(
    'prompt one; running; receipt 1; +5 prompt two; answers 2 cancelled; idle end_turn',
  ),
  "another client's message before ours": v2(
    'prompt mine; running; echo other of another client; said a0 for the other; idle end_turn; +20 running; echo u1 mine; receipt 1; said a1 for me; idle max_tokens',
  ),
  "the agent's own turn in v2": v2(`${turn(1)}; +500 running; said a9 news; idle; ${turn(2)}`),
  'turn_complete in v2': {
    ...v2('prompt one; running; receipt 1; complete #1; +20 idle refusal'),
    can: { session: { turnComplete: {}, resume: { replay: {} } } },
  },
  'a stop in v2': v2('prompt one; running; receipt 1; stop; +40 idle'),

  "a stop, and then the agent's own turn": v2(
    'prompt one; running; receipt 1; stop; idle cancelled; running; said a2 news; idle end_turn',
  ),
  'a message put into the turn': steers(
    v1('prompt one; says hi; steer two; +5 outcome 2 injected; says both; ends 1; prompt three; says ho; ends 3'),
  ),
  'a message put into the turn before its tool call, and one after': steers(
    v1(
      'prompt one; steer two; outcome 2 injected; call in_progress; says wait; call completed; steer three; outcome 3 injected; says all; ends 1',
    ),
  ),
  'a message put into the turn too late': steers(
    v1('prompt one; says hi; steer two; ends 1; +5 outcome 2 promptRequired; says ho; ends 3'),
  ),
  'a message put into a turn that is over for the agent': steers(
    v1('prompt one; says hi; steer two; outcome 2 promptRequired; +50 ends 1; says ho; ends 3'),
  ),
  'a message put into the turn, said after its end': steers(
    v1('prompt one; says hi; steer two; ends 1; +5 outcome 2 injected; prompt three; ends 3'),
  ),
  'a message that begins a turn of the agent': steers(
    v1('prompt one; says hi; steer two; ends 1; +5 outcome 2 startedNewTurn; says ho; +2000 prompt three; ends 3'),
  ),
  'a message that could not be put into the turn': steers(
    v1('prompt one; says hi; steer two; outcome 2 failed; says ho; ends 1; says two; ends 3'),
  ),
  'a message that the agent refuses to put into the turn': steers(
    v1('prompt one; says hi; steer two; answers 2 broken; ends 1; says two; ends 3'),
  ),
  'no answer to a message put into the turn': steers(
    v1('prompt one; says hi; steer two; ends 1; prompt three; +12000 says ho; ends 3'),
  ),
  'an unknown outcome of a message put into the turn': steers(
    v1('prompt one; says hi; steer two; outcome 2 tomorrow; ends 1; +12000 prompt three; ends 3'),
  ),
  'a stop with a message on its way into the turn': steers(
    v1('prompt one; says hi; steer two; stop; outcome 2 injected; ends 1 cancelled'),
  ),
  'messages put into a turn of v2': steers(
    v2(
      'prompt one; running; echo u1 one; receipt 1; said a1 hi; steer two; piece u2 two; outcome 2 injected; said a2 ho; steer three; outcome 3 injected; piece u3 three; said a3 all; idle end_turn',
    ),
  ),
  'messages that wait for a turn of v2': steers(
    v2('prompt one; running; receipt 1; prompt two; idle end_turn; receipt 2; running; idle'),
  ),
  'a load that repeats all': {
    ...v1('prompt new; says hi; ends 1'),
    opens: 'load',
    repeats: { beforeAnswer: updates(`${past(1)}; ${past(2)}`) },
  },
  'a load that repeats nothing': { ...v1('prompt new; says hi; ends 1'), opens: 'load', repeats: {} },
  'a load that repeats after its answer': {
    ...v1('+500 prompt new; says hi; ends 1'),
    opens: 'load',
    repeats: { afterAnswer: updates(past(1)) },
  },
  'a load that repeats after session/ready': {
    ...v1('+500 prompt new; says hi; ends 1'),
    can: { loadSession: true, sessionCapabilities: { ready: {} } },
    opens: 'load',
    repeats: { afterReady: updates(past(1)) },
  },
  'a load whose last turn goes on after its answer': {
    ...promised('+500 prompt new; says hi; ends 1; complete #1'),
    opens: 'load',
    repeats: {
      beforeAnswer: updates(`${past(1)}; complete old1 max_tokens; user old 2`),
      afterAnswer: updates('says answer 2; complete old2 refusal'),
    },
  },
  'a load with the ends of turns': {
    ...promised('prompt new; says hi; ends 1; complete #1'),
    opens: 'load',
    repeats: { beforeAnswer: updates(`${past(1)}; complete old1 max_tokens; ${past(2)}; complete old2 end_turn`) },
  },
  'a resume with the ends of turns': {
    ...v2(turn(1)),
    opens: 'resume',
    repeats: {
      beforeAnswer: updates(
        'echo p1 old 1; running; said q1 answer 1; idle max_tokens usage; echo p2 old 2; running; said q2 answer 2; idle end_turn',
      ),
    },
  },
  'a resume of a session that works': {
    ...v2('+500 said q1 more; idle end_turn'),
    opens: 'resume',
    repeats: { beforeAnswer: updates('echo p1 old 1; running') },
  },
  'a restart that repeats all': {
    ...v1('restart'),
    acts: [...repeated, { user: 'restart', repeats: { beforeAnswer: updates('user one; says hi') } }, ...next],
  },
  'a restart that repeats turns with their ends after its answer': {
    ...v2('restart'),
    acts: [
      ...acts(turn(1)),
      {
        user: 'restart',
        repeats: {
          afterAnswer: updates(
            'echo u1 message 1; said a1 answer 1; idle max_tokens; echo p2 old 2; said q2 answer 2; idle max_tokens usage',
          ),
        },
      },
      ...acts(turn(2)),
    ],
  },
  'a restart that repeats nothing': v1('prompt one; says hi; ends 1; restart; prompt two; says ho; ends 2'),
  'a restart in a turn': v1('prompt one; says hi; restart; prompt two; says ho; ends 2'),
  'the end of the agent in a turn': v1('prompt one; says hi; exits'),
  'a session that the agent has lost': v1(
    'prompt one; says hi; ends 1; prompt two; answers 2 gone; +500 says ho; ends 3',
  ),
};
