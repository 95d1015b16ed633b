// Tests random behaviour of agents with steered messages: none is lost or sent twice.
import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { STEERING } from '../../../../src/acp/proposals/steering';
import { textOfBlocks } from '../../../../src/base/text';
import { at } from '../../../../src/base/untrusted';
import { seeds } from '../../../support/tier';
import { type Lived, playLive } from '../../../support/wires/playWire';
import { type Act, agentSays, state, type Wire } from '../../../support/wires/wire';

const RUNS = seeds(150, 4000);
const TURNED_DOWN: ReadonlySet<unknown> = new Set(['promptRequired', 'failed']);

type Step = Act | 'prompt' | 'steer';

const outcomes = ['injected', 'injected', 'promptRequired', 'failed', 'startedNewTurn', 'tomorrow'];
const steered = fc.constantFrom<Act[]>(
  ...outcomes.map((outcome): Act => ({ answers: STEERING, result: { outcome } })),
  { answers: STEERING, error: { code: -32603, message: 'It broke' } },
);
const common = [fc.constant('steer' as const), fc.constant('steer' as const), steered, steered];
const seldom = fc.constantFrom<Step[]>('prompt', { user: 'cancel' }, { exits: true }, { after: 50, user: 'restart' });
const delay = fc.constantFrom(0, 0, 0, 1, 200, 9000, 11_000);
const v1 = fc.constantFrom<Step[]>(
  { says: agentSays('word ') },
  { answers: 'session/prompt', result: { stopReason: 'end_turn' } },
);
const v2 = fc.constantFrom<Step[]>(
  { echoes: true },
  { echoes: true },
  { says: agentSays('word ', { messageId: 'a' }) },
  { says: state('running') },
  { says: state('idle', { stopReason: 'end_turn' }) },
  { answers: 'session/prompt', result: {} },
);

function steps(protocol: 1 | 2): fc.Arbitrary<readonly Act[]> {
  const step = fc.oneof(...common, protocol === 1 ? v1 : v2, protocol === 1 ? v1 : v2, seldom) as fc.Arbitrary<Step>;
  return fc.array(fc.tuple(step, delay), { minLength: 3, maxLength: 14 }).map((list) => {
    let sent = 1;
    const acts = list.map(
      ([one, after]): Act =>
        one === 'prompt' || one === 'steer' ? { after, user: one, text: `message ${++sent}` } : { after, ...one },
    );
    return [{ user: 'prompt', text: 'message 1' }, ...acts];
  });
}

const wire: fc.Arbitrary<Wire> = fc.constantFrom<(1 | 2)[]>(1, 2).chain((protocol) =>
  steps(protocol).map((acts) => {
    const can = protocol === 1 ? { loadSession: true } : { session: { resume: {} } };
    return { protocol, can, steers: true, acts };
  }),
);

interface Sent {
  readonly method: unknown;
  readonly words: string;
  answer?: unknown;
}

/** Returns what was sent to the agent, with its answers. */
function sentTo({ recording }: Lived): readonly Sent[] {
  const sent: Sent[] = [];
  const open = new Map<unknown, Sent>();
  for (const { fromAgent, message } of recording) {
    const { id, method, params } = message as Readonly<Record<string, unknown>>;
    if (method === 'initialize') open.clear();
    if (!fromAgent && (method === 'session/prompt' || method === STEERING)) {
      const one = { method, words: String(at(params, 'prompt', '0', 'text')) };
      open.set(id, one);
      sent.push(one);
    } else if (fromAgent && method === undefined) {
      const one = open.get(id);
      if (one) one.answer = message;
      open.delete(id);
    }
  }
  return sent;
}

function isTurnedDown({ method, answer }: Sent): boolean {
  return method === STEERING && (at(answer, 'error') !== undefined || TURNED_DOWN.has(at(answer, 'result', 'outcome')));
}

function assertKept(lived: Lived, messages: readonly string[]): void {
  const said = lived.model.state.entries.flatMap((entry) =>
    entry.kind === 'user' ? [textOfBlocks(entry.content)] : [],
  );
  const sent = sentTo(lived);
  for (const words of messages) {
    const [inTranscript, waiting] = [
      said.filter((one) => one === words).length,
      lived.queue.filter((one) => one.startsWith(`${words} `) && !one.endsWith('again')),
    ] as const;
    assert.equal(inTranscript + waiting.length, 1, `${words}: ${inTranscript} times said, ${waiting}`);
    const times = sent.filter((one) => one.words === words);
    assert.ok(times.slice(0, -1).every(isTurnedDown), `${words} went to the agent again`);
    const last = times.at(-1);
    if (waiting.length === 0) continue;
    // A late answer changes nothing: the message stays in doubt.
    const mayBeAnswered = lived.isOpen || last?.method === 'session/prompt';
    const isInDoubt = (mayBeAnswered ? /(accepted|doubtful)$/ : /doubtful$/).test(waiting[0] ?? '');
    assert.ok(isInDoubt ? last : !last || isTurnedDown(last), `${waiting}`);
  }
}

describe('messages put into running turns', function () {
  this.timeout(RUNS * 100 + 60_000);

  it(`are neither lost nor sent twice, whatever the agent does (${RUNS} runs)`, async () => {
    let steers = 0;
    await fc.assert(
      fc.asyncProperty(wire, async (one) => {
        const lived = await playLive(one);
        steers += sentTo(lived).filter(({ method }) => method === STEERING).length;
        assertKept(
          lived,
          one.acts.flatMap((act) => ('text' in act ? [act.text] : [])),
        );
      }),
      { numRuns: RUNS, seed: Number(process.env.STEERING_SEED ?? 38) },
    );
    assert.ok(steers > RUNS / 2, `${steers} messages were steered`);
  });
});
