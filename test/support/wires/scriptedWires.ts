// Wires that show one thing each: the forms that the proposals have, and the ways in which agents depart from them.
import { type Act, agentSays, complete, state, text, type Update, type Wire } from './wire';

const BARRIERS = { sessionCapabilities: { turnComplete: {} } };
const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
const broken = { code: -32603, message: 'It broke' };
const gone = { code: -32002, message: 'Unknown session', data: { sessionId: 'wire-session' } };

const prompt = (words: string, after = 0): Act => ({ user: 'prompt', text: words, after });
const says = (words: string, after = 0): Act => ({ says: agentSays(words), after });
const said = (words: string, messageId: string): Act => ({ says: agentSays(words, { messageId }) });
const ends = (answers: number, stopReason = 'end_turn', after = 0): Act => ({ answers, result: { stopReason }, after });
const is = (word: string, more: Update = {}, after = 0): Act => ({ says: state(word, more), after });
const receipt = (answers: number, after = 0): Act => ({ answers, result: { messageId: `u${answers}` }, after });
const barrier = (more: Update = {}, after = 0): Act => ({ says: complete(more), after });
const echo = (messageId: string, words: string): Act => ({
  says: { sessionUpdate: 'user_message', messageId, content: [text(words)] },
});
const call = (status: string, toolCallId = 'c', after = 0): Act => ({
  says: { sessionUpdate: 'tool_call_update', toolCallId, title: 'Work', status },
  after,
});
const news: Update = { sessionUpdate: 'usage_update', used: 1, size: 10 };
const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
const past = (number: number, ...end: Update[]): Update[] => [
  { sessionUpdate: 'user_message_chunk', content: text(`old ${number}`) },
  agentSays(`answer ${number}`),
  ...end,
];

const v1 = (...acts: Act[]): Wire => ({ protocol: 1, can: { loadSession: true }, acts });
const promised = (...acts: Act[]): Wire => ({ protocol: 1, can: { loadSession: true, ...BARRIERS }, acts });
const v2 = (...acts: Act[]): Wire => ({ protocol: 2, can: { session: { resume: { replay: {} } } }, acts });
const turn = (number: number, words = `message ${number}`): Act[] => [
  prompt(words),
  is('running'),
  echo(`u${number}`, words),
  receipt(number),
  said(`answer ${number}`, `a${number}`),
  is('idle', { stopReason: 'end_turn' }),
];

export const SCRIPTED_WIRES: Readonly<Record<string, Wire>> = {
  'two turns': v1(prompt('one'), says('hi'), ends(1), prompt('two'), says('ho'), ends(2, 'max_tokens')),
  'tokens in the answer': v1(prompt('one'), { answers: 1, result: { stopReason: 'end_turn', usage } }),
  'an answer without a reason': v1(prompt('one'), says('hi'), { answers: 1, result: {} }, says('late', 1500)),
  'null, and output within a second': v1(prompt('one'), { answers: 1, result: null }, says('hi', 900), says('ho', 900)),
  'an error answer': v1(prompt('one'), says('hi'), { answers: 1, error: broken }, prompt('two'), ends(2)),
  'a message typed while a turn runs': v1(prompt('one'), prompt('two', 5), says('hi'), ends(1), says('ho'), ends(2)),
  'output after the end': v1(prompt('one'), ends(1), says('late', 3000), prompt('two'), ends(2)),
  'a tool call across the end': v1(prompt('one'), call('in_progress'), ends(1), call('completed', 'c', 20)),
  'a stop': v1(prompt('one'), says('hi'), { user: 'cancel' }, says('still', 100), ends(1, 'cancelled')),
  'a stop that is answered with an error': v1(prompt('one'), { user: 'cancel' }, { answers: 1, error: broken }),
  'a refusal after a stop': v1(prompt('one'), { user: 'cancel' }, ends(1, 'refusal')),
  'an answered question': v1(
    prompt('one'),
    { asks: { toolCall: { toolCallId: 'c', title: 'Work' }, options } },
    { user: 'allow', optionId: 'yes', after: 5000 },
    call('completed'),
    ends(1),
  ),
  'a question that is open when the turn is stopped': v1(
    prompt('one'),
    { asks: { toolCall: { toolCallId: 'c', title: 'Work' }, options } },
    { user: 'cancel' },
    ends(1, 'cancelled'),
  ),

  'turn_complete before the answer': promised(prompt('one'), says('hi'), barrier({ promptRequestId: '#1' }), ends(1)),
  'turn_complete after the answer': promised(prompt('one'), ends(1), says('hi', 5), barrier({ promptRequestId: '#1' })),
  'turn_complete that is not promised': v1(
    prompt('one'),
    barrier({ stopReason: 'end_turn' }),
    ends(1, 'max_tokens', 50),
  ),
  'max_tokens after turn_complete': promised(
    prompt('one'),
    barrier({ promptRequestId: '#1', stopReason: 'end_turn' }),
    { answers: 1, result: { stopReason: 'max_tokens', usage } },
  ),
  'no promised turn_complete': promised(prompt('one'), says('hi'), ends(1), prompt('two', 15_000), ends(2)),
  'a promised turn_complete after a long call': promised(
    prompt('one'),
    ends(1),
    call('in_progress'),
    call('completed', 'c', 20_000),
    says('done', 1500),
    barrier({ promptRequestId: '#1' }, 10),
  ),
  'turn_complete of another prompt': promised(
    prompt('one'),
    says('hi'),
    barrier({ promptRequestId: 'foreign' }),
    says('ho'),
    ends(1),
    barrier({ promptRequestId: '#1' }, 20),
  ),
  'turn_complete of the prompt before': promised(
    prompt('one'),
    ends(1),
    barrier({ promptRequestId: '#1' }),
    prompt('two'),
    barrier({ promptRequestId: '#1' }),
    says('hi'),
    ends(2),
    barrier({ promptRequestId: '#2' }),
  ),
  'turn_complete twice': promised(
    prompt('one'),
    ends(1),
    barrier({ promptRequestId: '#1' }),
    barrier(),
    prompt('two'),
    ends(2),
  ),
  'turn_complete by the numbers of a proxy': promised(
    prompt('one'),
    ends(1),
    barrier({ promptRequestId: 'p1' }),
    prompt('two', 3000),
    ends(2),
    barrier({ promptRequestId: 'p2' }, 10),
    prompt('three', 10),
    ends(3),
  ),
  'no answer after turn_complete': promised(
    prompt('one'),
    barrier({ promptRequestId: '#1' }),
    prompt('two', 20),
    ends(2, 'end_turn', 12_000),
  ),
  'an error after turn_complete': promised(prompt('one'), barrier({ promptRequestId: '#1' }), {
    answers: 1,
    error: broken,
  }),
  'a stop after turn_complete': promised(
    prompt('one'),
    barrier({ promptRequestId: '#1' }),
    { user: 'cancel' },
    ends(1),
  ),

  'turn_complete with another reason after the answer': promised(
    prompt('one'),
    ends(1, 'max_tokens'),
    barrier({ promptRequestId: '#1', stopReason: 'end_turn' }, 10),
  ),
  'output for long after the answer, and turn_complete': promised(
    prompt('one'),
    ends(1),
    says('first ', 9000),
    says('second ', 9000),
    barrier({ promptRequestId: '#1' }, 9000),
  ),
  'no turn_complete, and news without an end': promised(
    prompt('one'),
    ends(1),
    ...Array.from({ length: 14 }, (): Act => ({ after: 5000, says: news })),
    says('late', 1),
  ),
  'a call that goes on after its end, and no turn_complete': promised(
    prompt('one'),
    call('completed'),
    ends(1),
    call('in_progress', 'c', 10),
    says('late', 20_000),
  ),
  'an answer without a reason, and then states': v1(
    prompt('one'),
    { answers: 1, result: {} },
    is('running', {}, 500),
    says('hi', 5000),
    is('idle', { stopReason: 'refusal' }),
  ),
  'a message that is given back at once': v1(prompt('one'), {
    answers: 1,
    error: { code: -32800, message: 'Cancelled' },
  }),

  'a v1 receipt, and turn_complete': promised(
    prompt('one'),
    receipt(1),
    says('hi'),
    barrier({ promptRequestId: '#1' }),
    prompt('two', 50),
    receipt(2),
    barrier({ promptRequestId: '#2' }, 50),
  ),
  'a v1 receipt, and states': v1(
    prompt('one'),
    receipt(1),
    is('running'),
    says('hi'),
    is('idle', { stopReason: 'refusal' }),
  ),
  'a v1 receipt, and nothing that ends the turn': v1(prompt('one'), receipt(1), says('hi', 50)),
  'states before an answer without a reason': v1(
    prompt('one'),
    is('running'),
    { answers: 1, result: {} },
    says('hi', 3000),
    is('idle', { stopReason: 'refusal' }, 3000),
  ),
  'v1 states around an answer': v1(
    prompt('one'),
    is('running'),
    says('hi'),
    ends(1),
    is('idle'),
    prompt('two'),
    ends(2),
  ),
  "the agent's own turn": v1(is('running'), says('I woke up'), is('idle'), prompt('one', 5), ends(1)),
  "a message in the agent's own turn": v1(
    is('running'),
    says('working'),
    prompt('one', 5),
    says('hi'),
    ends(1),
    is('idle'),
  ),

  'two turns of v2': v2(...turn(1), ...turn(2)),
  "the proposal's word for states": v2(
    prompt('one'),
    { says: { sessionUpdate: 'state_change', state: 'running' } },
    receipt(1),
    { says: { sessionUpdate: 'state_change', state: 'idle', stopReason: 'end_turn' } },
  ),
  'idle without a reason': v2(prompt('one'), is('running'), echo('u1', 'one'), receipt(1), is('idle')),
  'idle with an error': v2(prompt('one'), is('running'), echo('u1', 'one'), receipt(1), is('idle', { error: broken })),
  'idle with usage': v2(
    prompt('one'),
    is('running'),
    echo('u1', 'one'),
    receipt(1),
    is('idle', { stopReason: 'end_turn', usage }),
  ),
  'idle before the receipt': v2(
    prompt('one'),
    is('running'),
    echo('u1', 'one'),
    is('idle', { stopReason: 'end_turn' }),
    receipt(1, 30),
  ),
  'no echo, and idle before the receipt': v2(
    prompt('one'),
    is('running'),
    said('hi', 'a1'),
    is('idle', { stopReason: 'end_turn' }),
    receipt(1, 30),
    prompt('two', 100),
    is('running'),
    echo('u2', 'two'),
    receipt(2),
    is('idle', { stopReason: 'max_tokens' }),
  ),
  'idle before the echo': v2(
    prompt('one'),
    is('running'),
    is('idle'),
    echo('u1', 'one'),
    receipt(1),
    said('hi', 'a1'),
    is('idle', {}, 3000),
  ),
  'an idle of before': v2(
    prompt('one'),
    is('idle', { stopReason: 'end_turn' }),
    is('running', {}, 10),
    receipt(1),
    is('idle'),
  ),
  'an unknown state': v2(
    prompt('one'),
    receipt(1),
    is('dreaming'),
    said('hi', 'a1'),
    is('idle', { stopReason: 'end_turn' }),
  ),
  requires_action: v2(prompt('one'), receipt(1), is('running'), is('requires_action'), is('running'), is('idle')),
  'the echo in pieces, with an id': v2(
    prompt('one two'),
    is('running'),
    { says: { sessionUpdate: 'user_message_chunk', messageId: 'u1', content: text('one ') } },
    { says: { sessionUpdate: 'user_message_chunk', messageId: 'u1', content: text('two') } },
    receipt(1),
    is('idle', { stopReason: 'end_turn' }),
  ),
  'the echo after the receipt': v2(prompt('one'), receipt(1), echo('u1', 'one'), is('running'), is('idle')),
  'an echo in other words': v2(
    prompt('one'),
    is('running'),
    echo('u1', 'One.'),
    receipt(1),
    is('idle', { stopReason: 'end_turn' }),
  ),
  'an echo in other words after the receipt': v2(
    prompt('one'),
    receipt(1),
    echo('u1', 'One.'),
    is('running'),
    is('idle', { stopReason: 'end_turn' }),
  ),
  'no echo': v2(prompt('one'), is('running'), receipt(1), said('hi', 'a1'), is('idle')),
  'a second prompt while a turn runs': v2(
    prompt('one'),
    is('running'),
    echo('u1', 'one'),
    receipt(1),
    prompt('two', 5),
    said('hi', 'a1'),
    is('idle', { stopReason: 'end_turn' }),
    is('running'),
    echo('u2', 'two'),
    receipt(2),
    said('ho', 'a2'),
    is('idle', { stopReason: 'max_tokens' }),
  ),
  'a second prompt that joins the turn': v2(
    prompt('one'),
    is('running'),
    receipt(1),
    prompt('two', 5),
    echo('u2', 'two'),
    receipt(2),
    said('both', 'a1'),
    is('idle', { stopReason: 'end_turn' }),
  ),
  'a second prompt that is given back': v2(
    prompt('one'),
    is('running'),
    receipt(1),
    prompt('two', 5),
    { answers: 2, error: { code: -32800, message: 'Cancelled' } },
    is('idle', { stopReason: 'end_turn' }),
  ),
  "another client's message before ours": v2(
    prompt('mine'),
    is('running'),
    echo('other', 'of another client'),
    said('for the other', 'a0'),
    is('idle', { stopReason: 'end_turn' }),
    is('running', {}, 20),
    echo('u1', 'mine'),
    receipt(1),
    said('for me', 'a1'),
    is('idle', { stopReason: 'max_tokens' }),
  ),
  "the agent's own turn in v2": v2(...turn(1), is('running', {}, 500), said('news', 'a9'), is('idle'), ...turn(2)),
  'turn_complete in v2': {
    ...v2(
      prompt('one'),
      is('running'),
      receipt(1),
      barrier({ promptRequestId: '#1' }),
      is('idle', { stopReason: 'refusal' }, 20),
    ),
    can: { session: { turnComplete: {}, resume: { replay: {} } } },
  },
  'a stop in v2': v2(prompt('one'), is('running'), receipt(1), { user: 'cancel' }, is('idle', {}, 40)),

  "a stop, and then the agent's own turn": v2(
    prompt('one'),
    is('running'),
    receipt(1),
    { user: 'cancel' },
    is('idle', { stopReason: 'cancelled' }),
    is('running'),
    said('news', 'a2'),
    is('idle', { stopReason: 'end_turn' }),
  ),
  'a load that repeats all': {
    ...v1(prompt('new'), says('hi'), ends(1)),
    opens: 'load',
    repeats: { beforeAnswer: [...past(1), ...past(2)] },
  },
  'a load that repeats nothing': { ...v1(prompt('new'), says('hi'), ends(1)), opens: 'load', repeats: {} },
  'a load that repeats after its answer': {
    ...v1(prompt('new', 500), says('hi'), ends(1)),
    opens: 'load',
    repeats: { afterAnswer: past(1) },
  },
  'a load that repeats after session/ready': {
    ...v1(prompt('new', 500), says('hi'), ends(1)),
    can: { loadSession: true, sessionCapabilities: { ready: {} } },
    opens: 'load',
    repeats: { afterReady: past(1) },
  },
  'a load whose last turn goes on after its answer': {
    ...promised(prompt('new', 500), says('hi'), ends(1), barrier({ promptRequestId: '#1' })),
    opens: 'load',
    repeats: {
      beforeAnswer: [
        ...past(1, complete({ promptRequestId: 'old1', stopReason: 'max_tokens' })),
        { sessionUpdate: 'user_message_chunk', content: text('old 2') },
      ],
      afterAnswer: [agentSays('answer 2'), complete({ promptRequestId: 'old2', stopReason: 'refusal' })],
    },
  },
  'a load with the ends of turns': {
    ...promised(prompt('new'), says('hi'), ends(1), barrier({ promptRequestId: '#1' })),
    opens: 'load',
    repeats: {
      beforeAnswer: [
        ...past(1, complete({ promptRequestId: 'old1', stopReason: 'max_tokens' })),
        ...past(2, complete({ promptRequestId: 'old2', stopReason: 'end_turn' })),
      ],
    },
  },
  'a resume with the ends of turns': {
    ...v2(...turn(1)),
    opens: 'resume',
    repeats: {
      beforeAnswer: [
        echo('p1', 'old 1'),
        is('running'),
        said('answer 1', 'q1'),
        is('idle', { stopReason: 'max_tokens', usage }),
        echo('p2', 'old 2'),
        is('running'),
        said('answer 2', 'q2'),
        is('idle', { stopReason: 'end_turn' }),
      ].flatMap((act) => ('says' in act ? [act.says] : [])),
    },
  },
  'a resume of a session that works': {
    ...v2({ ...said('more', 'q1'), after: 500 }, is('idle', { stopReason: 'end_turn' })),
    opens: 'resume',
    repeats: { beforeAnswer: [echo('p1', 'old 1'), is('running')].flatMap((act) => ('says' in act ? [act.says] : [])) },
  },
  'a restart that repeats all': v1(
    prompt('one'),
    says('hi'),
    ends(1),
    {
      user: 'restart',
      repeats: { beforeAnswer: [{ sessionUpdate: 'user_message_chunk', content: text('one') }, agentSays('hi')] },
    },
    prompt('two'),
    says('ho'),
    ends(2),
  ),
  'a restart that repeats turns with their ends after its answer': v2(
    ...turn(1),
    {
      user: 'restart',
      repeats: {
        afterAnswer: [
          echo('u1', 'message 1'),
          said('answer 1', 'a1'),
          is('idle', { stopReason: 'max_tokens' }),
          echo('p2', 'old 2'),
          said('answer 2', 'q2'),
          is('idle', { stopReason: 'max_tokens', usage }),
        ].flatMap((act) => ('says' in act ? [act.says] : [])),
      },
    },
    ...turn(2),
  ),
  'a restart that repeats nothing': v1(
    prompt('one'),
    says('hi'),
    ends(1),
    { user: 'restart' },
    prompt('two'),
    says('ho'),
    ends(2),
  ),
  'a restart in a turn': v1(prompt('one'), says('hi'), { user: 'restart' }, prompt('two'), says('ho'), ends(2)),
  'the end of the agent in a turn': v1(prompt('one'), says('hi'), { exits: true }),
  'a session that the agent has lost': v1(
    prompt('one'),
    says('hi'),
    ends(1),
    prompt('two'),
    { answers: 2, error: gone },
    says('ho', 500),
    ends(3),
  ),
};
