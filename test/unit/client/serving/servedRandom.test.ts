// Tests random runs with an agent that loses sessions, refuses and crashes: each prompt is
// delivered in its own run or never.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { removeScratch } from '../../../support/scratch';
import { LossyAgent, type PromptFate } from '../../../support/sessions/lossyAgent';
import { seeds } from '../../../support/tier';
import { RunBench } from './runBench';

const SESSIONS = seeds(8, 400);

const FATES: readonly PromptFate[] = [
  ...(['echo', 'echo', 'lost', 'sign-in', 'refuse'] as const),
  ...(['die', 'say-and-die', 'wait', 'refusal', 'max_tokens'] as const),
];

/** When a caller leaves: never, after this many event-loop turns, or with the first output. */
type Leaving = 'stays' | 'at-words' | number;

const session = fc.record({
  load: fc.constantFrom(undefined, 'opens' as const, 'not-found' as const, 'fails' as const),
  opensOne: fc.boolean(),
  runs: fc.array(
    fc.record({
      fate: fc.constantFrom(...FATES),
      leaves: fc.oneof(fc.constant<Leaving>('stays'), fc.constant<Leaving>('at-words'), fc.nat({ max: 12 })),
    }),
    { minLength: 2, maxLength: 7 },
  ),
});

describe('runs of a served session', function () {
  this.timeout(SESSIONS * 500 + 20_000);
  afterEach(removeScratch);

  it(`never leak into another run (${SESSIONS} sessions)`, async () => {
    await fc.assert(
      fc.asyncProperty(session, async ({ load, opensOne, runs }) => {
        const fates: Record<number, PromptFate> = {};
        const lossy = new LossyAgent({ prompts: fates, opensOne, ...(load && { load }) });
        const bench = await RunBench.begin(lossy);
        try {
          for (const [index, { fate, leaves }] of runs.entries()) {
            const text = `message ${index}`;
            const before = lossy.prompts.length;
            // A prompt that was refused for a lost session is sent again.
            fates[before + 1] = fate;
            const abort = new AbortController();
            const leave = (): void => abort.abort(new Error('gone'));
            const isLeft = fate === 'wait' && leaves === 'stays' ? 'at-words' : leaves;
            const running = bench.run(text, abort.signal, () => isLeft === 'at-words' && leave());
            for (let turn = 0; typeof isLeft === 'number' && turn < isLeft; turn++)
              await new Promise((resolve) => setImmediate(resolve));
            if (typeof isLeft === 'number') leave();
            const end = await running;
            const sent = lossy.prompts.slice(before).map((one) => one.text);
            assert.deepEqual([...new Set(sent)], sent.length === 0 ? [] : [text], 'nothing but its own prompt');
            assert.ok(sent.length <= (fate === 'lost' ? 2 : 1), 'once');
            assert.ok(end.said === '' || end.said === `echo ${text}`, end.said);
            assert.deepEqual(bench.waiting, [], 'nothing waits');
            if (fate === 'echo' && isLeft === 'stays') assert.deepEqual(end, { said: `echo ${text}` });
          }
        } finally {
          await bench.close();
        }
      }),
      { numRuns: SESSIONS },
    );
  });
});
