// Tests that the stored state of any step leads to the same end with the same agent.
import { strict as assert } from 'node:assert';
import {
  hasWaitingPrompt,
  keptTurns,
  keptTurnsSchema,
  restoredTurns,
  type TurnState,
} from '../../../../src/client/turns/turnState';
import { sameData } from '../../../support/sameData';
import { seeded } from '../../../support/store/random';
import { seeds } from '../../../support/tier';
import { PlayedTurns } from '../../../support/turns';

const REASONS = ['end_turn', 'refusal', 'max_tokens', 'cancelled'] as const;
const WORDS = ['Hello', 'Hello you', 'Hel', 'Other words'];

describe('the state of turns', () => {
  it('has the same outcome if it is stored as JSON and restored after each step', () => {
    for (let seed = 1; seed <= seeds(400, 20_000); seed++) {
      const lived = play(seed, (state) => state);
      const restored = play(seed, (state, texts) => {
        const kept = keptTurnsSchema.parse(JSON.parse(JSON.stringify(keptTurns(state))));
        return restoredTurns(kept, state.turns, (id) => texts.get(id) ?? '', state.userIds);
      });
      sameData(restored, lived, `seed ${seed}`);
    }
  });

  it('settles in time, whatever the agent sends', () => {
    for (let seed = 1; seed <= seeds(400, 20_000); seed++) {
      const { open, ends } = play(seed, (state) => state);
      assert.deepEqual(open, [], `seed ${seed}`);
      const ended = ends.flatMap((end) => (/ by /.exec(end) ? [end.split(' ')[0]] : []));
      assert.equal(new Set(ended).size, ended.length, `seed ${seed}: each turn ends once`);
    }
  });
});

/** Plays one random wire. @param keep stores and restores the state after each step */
function play(seed: number, keep: (state: TurnState, texts: ReadonlyMap<string, string>) => TurnState) {
  const random = seeded(seed);
  const turns = new PlayedTurns();
  const texts = new Map<string, string>();
  const open: string[] = [];
  const sent: string[] = [];
  const endsBy = random(2) === 0 ? 'response' : 'state';
  const promised = random(2) === 0;
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const steps: (() => void)[] = [
    () => {
      if (endsBy === 'response' && turns.state.turn) return;
      const text = pick(WORDS);
      const requestId = String(sent.length + 100);
      const id = turns.prompt({ endsBy, promised, text, requestId });
      texts.set(id, text);
      open.push(id);
      sent.push(requestId);
    },
    () => answer(),
    () => turns.say(),
    () => turns.report('running'),
    () => turns.report('idle', random(2) === 0 ? { stopReason: pick(REASONS) } : {}),
    () => turns.complete(pick([...sent.slice(-3), '7', undefined]), pick([...REASONS, undefined])),
    () => turns.user(`u${random(6)}`, pick(WORDS)),
    () =>
      turns.hear({
        type: 'message_chunk',
        role: 'user',
        messageId: `u${random(6)}`,
        block: { type: 'text', text: pick(WORDS) },
      }),
    () => turns.call(`c${random(3)}`, pick(['in_progress', 'completed'])),
    () => turns.feed({ type: 'update', isOutput: false }),
    () => turns.feed({ type: 'cancel' }),
    () => turns.pass(pick([10, 900, 1100, 11_000])),
  ];
  const answer = (): void => {
    const id = open.shift();
    if (id === undefined) return;
    const kind = random(5);
    if (kind === 0) {
      const error = { code: 'agent-error', message: 'no' };
      turns.feed({ type: 'failed', handle: id, error, withdrawn: random(2) === 0 });
    } else if (endsBy === 'state' || kind === 1) turns.receipt(id, pick([`u${random(6)}`, undefined]));
    else turns.answer(id, pick([...REASONS, undefined]));
  };
  const step = (run: () => void): void => {
    run();
    turns.state = keep(turns.state, texts);
  };
  for (let count = 10 + random(30); count > 0; count--) step(pick(steps));
  // Answers each prompt, ends each call, then goes idle.
  while (open.length > 0) step(answer);
  for (const call of ['c0', 'c1', 'c2']) step(() => turns.call(call, 'completed'));
  step(() => turns.report('running'));
  step(() => turns.report('idle', { stopReason: 'end_turn' }));
  step(() => turns.complete(sent.at(-1)));
  for (let wait = 0; wait < 4; wait++) step(() => turns.pass(11_000));
  const { turn } = turns.state;
  return {
    ends: turns.ends,
    events: turns.events,
    results: [...turns.results],
    open: [...(turn ? [turn.id] : []), ...(hasWaitingPrompt(turns.state) ? ['waiting'] : [])],
  };
}
