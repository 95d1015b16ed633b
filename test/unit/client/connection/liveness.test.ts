// Tests the status of working and silent agents, with a fake clock, and the number of probes.
import { strict as assert } from 'node:assert';
import { type Disposable, toDisposable } from '../../../../src/base/disposable';
import { type LifeSigns, LivenessProbe } from '../../../../src/client/connection/livenessProbe';
import type { OpenedSession } from '../../../../src/client/ports/agentLink';
import { SessionFeed } from '../../../../src/client/view/feed';
import { waitingLabel, workingLabel } from '../../../../src/client/view/livenessLabels';
import type { ToWebview } from '../../../../src/panel/contract';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { parseAgent, type TestConversation, testConversation } from '../../../support/sessions/conversation';
import { FEED_SOURCES } from '../../../support/sessions/feedSources';

const MINUTE = 60_000;
const START = 1_800_000_000_000;

function signs(at: number, events: readonly (readonly [number, SessionEvent])[], more: Partial<LifeSigns> = {}) {
  const model = new SessionModel();
  model.apply({ type: 'turn_started', turnId: 't1', origin: 'user', at: START }, START);
  for (const [minutes, event] of events) model.apply(event, START + minutes * MINUTE);
  return { state: model.state, now: START + at * MINUTE, heardAt: START, isUnresponsive: false, ...more };
}

function tool(toolCallId: string, title: string, status: 'in_progress' | 'completed' = 'in_progress'): SessionEvent {
  return { type: 'tool_call', toolCallId, patch: { title, status }, announced: true };
}

describe('the status of a running turn', () => {
  for (const [what, given, status, waits] of [
    ['has just begun', signs(0.9, []), 'Working', 'Sent next'],
    ['is silent', signs(2.5, []), 'Silent for 2 min', 'Waiting: the agent has been silent for 2 min'],
    [
      'is in a tool call',
      signs(5, [[1, tool('a', 'Bash')]]),
      'Working: Bash for 4 min',
      'Waiting: Bash has been running for 4 min',
    ],
    [
      'is in two tool calls',
      signs(130, [
        [1, tool('a', 'Build\n it')],
        [9, tool('b', 'Bash')],
      ]),
      'Working: Build it for 2 h',
      'Waiting: Build it has been running for 2 h',
    ],
    [
      'has ended its tool call',
      signs(9, [
        [1, tool('a', 'Bash')],
        [2, tool('a', 'Bash', 'completed')],
      ]),
      'Silent for 9 min',
      'Waiting: the agent has been silent for 9 min',
    ],
    [
      'does not answer in a tool call',
      signs(9, [[1, tool('a', 'Bash')]], { isUnresponsive: true }),
      'Not responding',
      "Waiting: the agent isn't responding",
    ],
    ['was heard after the clock was set back', signs(-60, []), 'Working', 'Sent next'],
  ] as const) {
    it(`says what is known if it ${what}`, () => {
      assert.equal(workingLabel(given), status);
      assert.equal(waitingLabel(given), waits);
    });
  }

  it('includes the title of a tool call', () => {
    const words = workingLabel(signs(5, [[1, tool('a', 'x'.repeat(10_000))]]));
    assert.equal(words, `Working: ${'x'.repeat(59)}… for 4 min`);
  });
});

class AskedSession {
  asked = 0;
  answer: () => Promise<unknown> = async () => ({ status: 'live' });
  readonly session: OpenedSession;

  constructor(advertised = true) {
    const rpc = {
      request: () => {
        this.asked++;
        return this.answer();
      },
    };
    const description = { features: advertised ? { status: {} } : {} };
    this.session = { link: { isAlive: true, rpc, description }, sessionId: 's' } as unknown as OpenedSession;
  }
}

describe('an agent that is silent in a turn', () => {
  let now = START;
  let changed: () => void = () => {};

  function probe(): LivenessProbe {
    now = START;
    const made = new LivenessProbe({ now: () => now, timeoutMs: 1, onChange: () => changed(), onState: () => {} });
    made.onUpdate();
    return made;
  }

  async function watch(made: LivenessProbe, { session }: AskedSession, minutes: number, talks = false): Promise<void> {
    for (const end = now + minutes * MINUTE; now < end; now += 5000) {
      if (talks) made.onUpdate();
      made.checkSilence(session, { waitsForUser: false, isFirst: false });
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('is asked less and less often', async () => {
    const asked = new AskedSession();
    await watch(probe(), asked, 60);
    assert.equal(asked.asked, 7, 'after 1, 2, 4, 8, 16, 32 and 52 minutes');
  });

  it('is not asked while it sends updates or if it lacks the method', async () => {
    const [talking, plain] = [new AskedSession(), new AskedSession(false)];
    await watch(probe(), talking, 60, true);
    await watch(probe(), plain, 60);
    assert.deepEqual([talking.asked, plain.asked], [0, 0]);
  });

  it('is unresponsive until its next update', async () => {
    const asked = new AskedSession();
    asked.answer = () => new Promise(() => {});
    const made = probe();
    now += MINUTE;
    const told = new Promise<void>((resolve) => {
      changed = resolve;
    });
    made.checkSilence(asked.session, { waitsForUser: false, isFirst: true });
    await told;
    assert.equal(made.signs.isUnresponsive, true);
    made.onUpdate();
    assert.equal(made.signs.isUnresponsive, false);
  });

  it('is not unresponsive after it waited for the user or the machine slept', () => {
    const { session } = new AskedSession(false);
    const made = probe();
    made.checkSilence(session, { waitsForUser: false, isFirst: true });
    now += 50_000;
    made.checkSilence(session, { waitsForUser: true, isFirst: false });
    assert.equal(made.signs.heardAt, now);
    for (const leap of [60 * MINUTE, -60 * MINUTE]) {
      now += leap;
      made.checkSilence(session, { waitsForUser: false, isFirst: false });
      assert.equal(made.signs.heardAt, now);
    }
  });
});

describe('the answer to session/status', () => {
  /** @param during runs before the answer arrives; an undefined answer is too late */
  async function asked(answer: unknown, during: (probe: LivenessProbe) => void = () => {}) {
    const probe = new LivenessProbe({ now: () => START, timeoutMs: 5, onChange() {}, onState() {} });
    const session = new AskedSession();
    session.answer = () => {
      during(probe);
      return answer === undefined ? new Promise(() => {}) : Promise.resolve(answer);
    };
    const doubt = await probe.checkBeforePrompt(session.session, new AbortController().signal);
    return { doubt, answer: await probe.ask(session.session), liveness: probe.liveness };
  }
  const speaks = (probe: LivenessProbe): void => probe.onUpdate();

  for (const [name, answer] of [
    ['no answer in time', undefined],
    ['not_found', { status: 'not_found' }],
    ['saved', { status: 'saved' }],
    ['a word that is not known', { status: 'entangled' }],
  ] as const)
    it(`is live if an update arrives before the answer: ${name}`, async () => {
      assert.deepEqual(await asked(answer, speaks), { doubt: 'none', answer: 'live', liveness: 'live' });
    });

  for (const answer of [null, 'live', 42, {}, { status: null }, { status: 7 }, { status: { live: true } }, []])
    it(`is ignored if it is invalid: ${JSON.stringify(answer)}`, async () => {
      assert.deepEqual(await asked(answer), { doubt: 'none', answer: 'failed', liveness: 'unknown' });
    });
});

describe('the panel during a long turn', () => {
  let folder: string;
  let session: TestConversation;
  let feed: SessionFeed;
  let now: number;
  const timers = new Set<() => void>();
  const statuses: unknown[] = [];
  let posted: () => void = () => {};

  beforeEach(async () => {
    folder = await scratchFolder();
    now = START;
    timers.clear();
    statuses.length = 0;
    const agent = parseAgent(scriptedAgent('proposals', `${folder}/log`), 'a');
    const services = { clock: { now: () => now } };
    session = testConversation({ agent, cwd: folder, services });
    feed = new SessionFeed(session.conversation, FEED_SOURCES, take, schedule);
    feed.snapshot();
  });

  afterEach(async () => {
    feed.dispose();
    await session.close();
    await removeScratch();
  });

  function take(message: ToWebview): void {
    if (message.type === 'update') {
      for (const op of message.ops) if (op.op === 'session' && op.patch.status) statuses.push(op.patch.status);
    }
    if ('revision' in message) queueMicrotask(() => feed.acknowledge(message.revision));
    posted();
  }

  function schedule(run: () => void): Disposable {
    timers.add(run);
    return toDisposable(() => timers.delete(run));
  }

  function tick(ms: number): void {
    now += ms;
    for (const run of [...timers]) {
      timers.delete(run);
      run();
    }
  }

  async function untilStatus(status: string): Promise<void> {
    while (statuses.at(-1) !== status) {
      await new Promise<void>((resolve) => {
        posted = resolve;
      });
    }
  }

  it('updates the elapsed time', async () => {
    const { conversation } = session;
    const { done } = conversation.send(
      'update {"sessionUpdate":"tool_call","toolCallId":"b","title":"Bash","status":"in_progress"}\nwait',
    );
    await session.until((c) => c.model.state.entries.some((entry) => entry.kind === 'tool'));
    await untilStatus('Working');
    assert.equal(timers.size, 1);
    const before = statuses.length;
    tick(20_000);
    tick(20_000);
    const queued = new Promise<void>((resolve) => {
      posted = resolve;
    });
    const waiting = conversation.send('say later');
    await queued;
    conversation.queueActions.remove(waiting.id);
    assert.equal(statuses.length, before, 'nothing is posted while there is nothing new to say');
    for (let step = 0; step < 5; step++) tick(20_000);
    await untilStatus('Working: Bash for 2 min');
    const asked = (): number =>
      readAgentLog(`${folder}/log`).filter((line) => line.msg?.method === 'session/status').length;
    while (asked() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    feed.suspend();
    assert.equal(timers.size, 0, 'nothing ticks behind a panel that nobody sees');
    feed.snapshot();
    assert.equal(timers.size, 1);
    conversation.cancel();
    await done;
    await untilStatus('Ready');
    assert.equal(timers.size, 0, 'nothing ticks where no turn runs');
  });
});
