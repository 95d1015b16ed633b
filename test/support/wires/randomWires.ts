// Random wires: turns as the proposals have them, in each of their forms, and then with what agents
// get wrong: things left out, said twice, in another order, late, or of another prompt.
import fc from 'fast-check';
import { at } from '../../../src/base/untrusted';
import { type Act, agentSays, complete, type Repetition, state, text, type Update, type Wire } from './wire';

/** Around each of the graces: 150 ms, 1, 2, 5, 10 and 60 s. */
const DELAYS = [0, 0, 0, 0, 1, 40, 140, 160, 900, 1100, 1900, 2100, 4900, 5100, 9900, 10_100, 61_000] as const;
const REASONS = ['end_turn', 'max_tokens', 'refusal', 'cancelled', 'a word of tomorrow'] as const;

const delay = fc.constantFrom(...DELAYS);
const reason = fc.constantFrom(...REASONS);
const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
const failure = { code: -32603, message: 'It broke' };
const gone = { code: -32002, message: 'Unknown session' };
const options = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

const answer = fc.oneof(
  reason.map((stopReason) => ({ result: { stopReason } })),
  reason.map((stopReason) => ({ result: { stopReason, usage } })),
  fc.constantFrom({ result: {} }, { result: null }, { result: { messageId: 'ID' } }),
  fc.constantFrom({ error: failure }, { error: { code: -32800, message: 'Cancelled' } }, { error: gone }),
);

const outcome = fc
  .constantFrom('injected', 'injected', 'injected', 'promptRequired', 'failed', 'startedNewTurn', 'tomorrow')
  .map((word) => ({ result: { outcome: word } }));

const busy = fc.constantFrom('running', 'running', 'running', 'requires_action', 'dreaming');
const idle = fc.oneof(
  reason.map((stopReason) => state('idle', { stopReason })),
  fc.constantFrom(
    state('idle'),
    state('idle', { stopReason: 'end_turn', usage }),
    state('idle', { error: { code: -32603, message: 'It broke' } }),
  ),
);

function barrier(number: number) {
  const id = fc.constantFrom(
    ...[`#${number}`, `#${number}`, `#${number}`, `#${number - 1}`, `#${number + 1}`, 'foreign', undefined],
  );
  return fc
    .tuple(id, fc.option(reason, { nil: undefined }))
    .map(([promptRequestId, stopReason]) =>
      complete({ ...(promptRequestId !== undefined && { promptRequestId }), ...(stopReason && { stopReason }) }),
    );
}

function echo(number: number, words: string) {
  const id = fc.constantFrom(...[`u${number}`, `u${number}`, `u${number}`, `u${number - 1}`, 'foreign']);
  const whole = fc
    .tuple(id, fc.constantFrom(words, words, words, 'other words'))
    .map(([messageId, said]): Update => ({ sessionUpdate: 'user_message', messageId, content: [text(said)] }));
  const chunk = fc
    .tuple(fc.option(id, { nil: undefined }), fc.constantFrom(words, words.slice(0, 3), 'other words'))
    .map(
      ([messageId, said]): Update => ({
        sessionUpdate: 'user_message_chunk',
        content: text(said),
        ...(messageId !== undefined && { messageId }),
      }),
    );
  return fc.oneof({ arbitrary: whole, weight: 3 }, { arbitrary: chunk, weight: 1 });
}

function output(protocol: 1 | 2, number: number) {
  const words = fc.constantFrom('one ', 'two ', 'three ');
  const said = words.map((one) => agentSays(one, protocol === 2 ? { messageId: `a${number}` } : {}));
  const thought = words.map(
    (one): Update => ({
      sessionUpdate: 'agent_thought_chunk',
      content: text(one),
      ...(protocol === 2 && { messageId: `t${number}` }),
    }),
  );
  const call = fc
    .constantFrom('pending', 'in_progress', 'completed', 'failed')
    .map(
      (status): Update => ({ sessionUpdate: 'tool_call_update', toolCallId: `call${number}`, title: 'Work', status }),
    );
  const news = fc.constantFrom<Update>(
    { sessionUpdate: 'usage_update', used: 10 * number, size: 1000 },
    { sessionUpdate: 'session_info_update', title: `Title ${number}` },
    { sessionUpdate: 'tomorrow', what: 'unknown' },
  );
  return fc.oneof(
    { arbitrary: said, weight: 4 },
    thought,
    { arbitrary: call, weight: 2 },
    { arbitrary: news, weight: 1 },
  );
}

const says = (updates: readonly Update[]): Act[] => updates.map((update) => ({ says: update }));

function turnOf(protocol: 1 | 2, number: number): fc.Arbitrary<Act[]> {
  const words = `message ${number}`;
  const prompt: Act = { user: 'prompt', text: words };
  const answered = (one: { readonly result?: unknown; readonly error?: typeof gone }): Act =>
    at(one.result, 'messageId') === 'ID'
      ? { answers: number, result: { messageId: `u${number}` } }
      : { answers: number, ...one };
  const parts = fc.record({
    said: fc.array(output(protocol, number), { maxLength: 4 }),
    answer,
    barriers: fc.array(barrier(number), { maxLength: 1 }),
    idle,
    busy: busy.map((word) => state(word)),
    echo: echo(number, words),
  });
  const asks: Act[] = [{ asks: question(protocol, number) }, { user: 'allow', optionId: 'yes' }];
  const plain = parts.map(({ said, answer: one, barriers }) => [
    prompt,
    ...says([...said, ...barriers]),
    answered(one),
  ]);
  const steered = fc.tuple(plain, outcome, fc.nat(8), fc.nat(8)).map(([turn, one, place, later]): Act[] => {
    const acts = [...turn];
    const from = Math.min(1 + place, acts.length);
    acts.splice(from, 0, { user: 'steer', text: `aside ${number}` });
    acts.splice(Math.min(from + 1 + later, acts.length), 0, { answers: number + 1, ...one });
    return acts;
  });
  const late = parts.map(({ said, answer: one, barriers }) => [
    prompt,
    ...says(said),
    answered(one),
    ...says(barriers),
  ]);
  const early = parts.map(({ said, barriers }) => [
    prompt,
    answered({ result: { messageId: 'ID' } }),
    ...says([...said, ...barriers]),
  ]);
  const lifecycle = parts.map(({ said, busy: runs, echo: heard, idle: ends, barriers }) => [
    prompt,
    ...says([runs, heard]),
    answered({ result: { messageId: 'ID' } }),
    ...says([...said, ends, ...barriers]),
  ]);
  const receiptFirst = parts.map(({ said, answer: one, busy: runs, echo: heard, idle: ends }) => [
    prompt,
    answered(one),
    ...says([heard, runs, ...said, ends]),
  ]);
  const own = parts.map(({ said, busy: runs, idle: ends }) => says([runs, ...said, ends]));
  const asking = parts.map(({ said, answer: one, idle: ends }) => [
    prompt,
    ...(protocol === 2 ? says([state('running')]) : []),
    ...asks,
    ...says(said),
    answered(one),
    ...(protocol === 2 ? says([ends]) : []),
  ]);
  const forms =
    protocol === 1 ? [plain, plain, late, late, early, lifecycle, steered] : [lifecycle, lifecycle, receiptFirst];
  return fc.oneof(...forms, own, asking);
}

function question(protocol: 1 | 2, number: number): Readonly<Record<string, unknown>> {
  const call = { toolCallId: `call${number}`, title: 'Work' };
  if (protocol === 1) return { toolCall: call, options };
  return { title: 'May I?', subject: { type: 'tool_call', toolCall: call }, options };
}

/** What an agent or a user does otherwise than they should. */
type Slip =
  | { readonly kind: 'drop'; readonly at: number }
  | { readonly kind: 'double'; readonly at: number }
  | { readonly kind: 'move'; readonly at: number; readonly to: number }
  | { readonly kind: 'wait'; readonly at: number; readonly ms: number }
  | { readonly kind: 'join'; readonly at: number }
  | { readonly kind: 'add'; readonly at: number; readonly act: Act };

function slip(protocol: 1 | 2): fc.Arbitrary<Slip> {
  const at = fc.nat(40);
  const foreign: Update = { sessionUpdate: 'user_message', messageId: 'other', content: [text('of another client')] };
  const act = fc.oneof<fc.Arbitrary<Act>[]>(
    fc.constant<Act>({ user: 'cancel' }),
    fc.constant<Act>({ user: 'prompt', text: 'in between' }),
    fc.constant<Act>({ user: 'steer', text: 'on the way' }),
    fc.constant<Act>({ says: foreign }),
    barrier(1).map((says) => ({ says })),
    idle.map((says) => ({ says })),
    busy.map((word) => ({ says: state(word) })),
    output(protocol, 9).map((says) => ({ says })),
    fc
      .tuple(fc.integer({ min: 1, max: 3 }), fc.oneof(answer, answer, outcome))
      .map(([answers, one]) => ({ answers, ...one })),
  );
  return fc.oneof(
    fc.record({ kind: fc.constant('drop' as const), at }),
    fc.record({ kind: fc.constant('double' as const), at }),
    fc.record({ kind: fc.constant('join' as const), at }),
    fc.record({ kind: fc.constant('move' as const), at, to: at }),
    fc.record({ kind: fc.constant('wait' as const), at, ms: delay }),
    fc.record({ kind: fc.constant('wait' as const), at, ms: delay }),
    fc.record({ kind: fc.constant('add' as const), at, act }),
  );
}

function withSlips(acts: readonly Act[], slips: readonly Slip[]): Act[] {
  const done = [...acts];
  for (const one of slips) {
    if (done.length === 0) break;
    const at = one.at % done.length;
    const act = done[at] as Act;
    if (one.kind === 'drop') done.splice(at, 1);
    else if (one.kind === 'double') done.splice(at, 0, act);
    else if (one.kind === 'wait') done[at] = { ...act, after: one.ms };
    else if (one.kind === 'join') done[at] = joined(act);
    else if (one.kind === 'add') done.splice(at, 0, one.act);
    else {
      done.splice(at, 1);
      done.splice(one.to % (done.length + 1), 0, act);
    }
  }
  return done;
}

function joined(act: Act): Act {
  if ('says' in act) return { ...act, withNext: true };
  return 'answers' in act && act.error !== gone ? { ...act, withNext: true } : act;
}

function repetition(protocol: 1 | 2): fc.Arbitrary<Repetition> {
  const past = [1, 2].flatMap((number): Update[][] => {
    const words = text(`message ${number}`);
    const user: Update =
      protocol === 2
        ? { sessionUpdate: 'user_message', messageId: `u${number}`, content: [words] }
        : { sessionUpdate: 'user_message_chunk', content: words };
    const said = agentSays('one ', protocol === 2 ? { messageId: `a${number}` } : {});
    const ends =
      protocol === 2
        ? state('idle', { stopReason: 'max_tokens', usage })
        : complete({ promptRequestId: `old${number}`, stopReason: 'max_tokens' });
    return [[user, said], [ends]];
  });
  const part = fc.tuple(fc.nat(2), fc.boolean(), fc.nat(4)).map(([turns, hasEnds, drop]) =>
    past
      .slice(0, turns * 2)
      .filter((_, index) => hasEnds || index % 2 === 0)
      .flat()
      .filter((_, index) => index !== drop - 1),
  );
  return fc
    .tuple(part, fc.constantFrom('beforeAnswer', 'beforeAnswer', 'afterAnswer', 'afterReady'))
    .map(([updates, when]) => ({ [when]: updates }));
}

function seldom<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ arbitrary: fc.constant(undefined), weight: 6 }, { arbitrary, weight: 1 });
}

export const randomWire: fc.Arbitrary<Wire> = fc.constantFrom<(1 | 2)[]>(1, 2).chain((protocol) => {
  const can = fc
    .record({ turnComplete: fc.boolean(), ready: fc.boolean(), status: fc.boolean() })
    .map((has) => Object.fromEntries(Object.entries(has).flatMap(([name, is]) => (is ? [[name, {}]] : []))));
  const turns = fc
    .integer({ min: 1, max: 3 })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => turnOf(protocol, index + 1))));
  const restarts = fc.tuple(fc.nat(40), fc.boolean(), repetition(protocol));
  return fc
    .record({
      can,
      turns,
      slips: fc.array(slip(protocol), { maxLength: 5 }),
      opens: seldom(repetition(protocol)),
      restart: seldom(restarts),
      status: fc.constantFrom({ status: 'live' }, { status: 'not_found' }, { status: 'saved' }, null),
      reopens: fc.boolean(),
      steers: fc.boolean(),
    })
    .map(({ can: has, turns: all, slips, opens, restart, status, reopens, steers }): Wire => {
      const acts = withSlips(all.flat(), slips);
      if (restart) {
        const [place, exits, repeats] = restart;
        const ended: Act[] = exits ? [{ exits: true }] : [];
        // An agent that can't open a session again doesn't replay it.
        const again = protocol === 2 || opens || reopens ? { repeats } : {};
        acts.splice(place % (acts.length + 1), 0, ...ended, { after: 50, user: 'restart', ...again });
      }
      const can =
        protocol === 1
          ? { loadSession: opens !== undefined || reopens, sessionCapabilities: has }
          : { session: { ...has, resume: { replay: {} } } };
      return { protocol, can, steers, acts, status, ...(opens && { opens: 'load', repeats: opens }) };
    });
});
