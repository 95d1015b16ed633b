// Tests turns of remote agents whose connection is lost: the agent's answer decides, and nothing is
// lost or shown twice.
import { strict as assert } from 'node:assert';
import type { ConversationServices } from '../../../../src/client/conversation/conversationOptions';
import { projectSession } from '../../../../src/client/view/projectSession';
import { sessionStatusOf } from '../../../../src/client/view/sessionStatus';
import { Changes } from '../../../../src/session/model/changes';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { DurableAgent, type DurableOptions, type DurableSession } from '../../../support/servers/durableAgent';
import { agentText, parseAgent, type TestConversation, testConversation } from '../../../support/sessions/conversation';
import { seeded } from '../../../support/store/random';
import { seeds } from '../../../support/tier';

const CUT_TURNS = seeds(4, 50);
const DELAYS_MS = Array.from({ length: 20 }, () => 1);

describe('a turn whose connection is lost', function () {
  this.timeout(60_000);
  let agent: DurableAgent;
  let session: TestConversation;

  afterEach(async () => {
    await session.close();
    await agent.close();
    await removeScratch();
  });

  async function open(
    options: DurableOptions,
    services: Partial<ConversationServices> = {},
  ): Promise<TestConversation> {
    agent = await DurableAgent.start(options);
    session = testConversation({
      agent: parseAgent({ name: 'Far', url: agent.url }, 'far'),
      cwd: await scratchFolder(),
      services: { reconnectDelaysMs: DELAYS_MS, ...services },
    });
    return session;
  }

  const said = (): string => agentText(session.conversation);
  const ends = (): string[] =>
    session.conversation.model.state.turns.map(({ stopReason, barrier }) => `${stopReason} by ${barrier}`);
  const queue = (): string[] =>
    session.conversation.queue.items.map(({ text, state, doubtful }) => `${text}: ${doubtful ? 'in doubt' : state}`);
  const isReady = ({ connection }: TestConversation['conversation']): boolean => connection.kind === 'ready';

  async function begin(text = 'go'): Promise<DurableSession> {
    session.conversation.send(text).done.catch(() => {});
    await agent.until(() => agent.sessions.size > 0 && agent.only.prompts.at(-1) === text);
    agent.say(agent.only, 'It begins. ');
    await session.until(() => said().endsWith('It begins. '));
    return agent.only;
  }

  async function cutWhile(happens: () => void): Promise<void> {
    agent.leave();
    await session.until(({ connection }) => connection.kind !== 'ready');
    happens();
    agent.back();
    await session.until(isReady);
  }

  for (const ending of ['by its turn_complete', 'after a time of silence'] as const) {
    it(`ends ${ending} if the agent only says that it is live`, async () => {
      const isTold = ending === 'by its turn_complete';
      const { until } = await open(
        { status: 'live', load: true, turnComplete: isTold },
        { rejoinQuietMs: isTold ? 60_000 : 20 },
      );
      const far = await begin();
      session.conversation.send('next').done.catch(() => {});
      await cutWhile(() => agent.say(far, 'Meanwhile. '));
      if (isTold) agent.end(far, 'max_tokens');
      await until((c) => c.model.state.turn === undefined);
      assert.equal(said(), far.said);
      assert.equal(ends()[0], isTold ? 'max_tokens by turn_complete' : 'unknown by timeout');
      if (isTold) return;
      assert.deepEqual(queue(), ['next: queued']);
      assert.match(projectSession(session.conversation).queuePaused ?? '', /doesn't say how the turn ended/);
    });
  }

  it('stays open if updates arrive while the agent is asked', async () => {
    let words = 6;
    const onStatus = (far: DurableSession): void => {
      if (words > 0) agent.say(far, `${words--} `);
    };
    const { until } = await open({ status: 'live', load: true, onStatus }, { rejoinQuietMs: 20 });
    const far = await begin();
    await cutWhile(() => {});
    await until((c) => c.model.state.turn === undefined);
    assert.equal(words, 0);
    assert.equal(said(), far.said);
    assert.equal(ends()[0], 'unknown by timeout');
  });

  it('is asked about again when a working agent is silent, without being ended', async () => {
    const { until } = await open({ status: 'states', load: true }, { rejoinQuietMs: 5 });
    const far = await begin();
    await cutWhile(() => {});
    const asked = (): number => agent.received.filter((method) => method === 'session/status').length;
    await agent.until(() => asked() >= 5);
    assert.ok(session.conversation.model.state.turn);
    agent.end(far, 'max_turn_requests');
    await until((c) => c.model.state.turn === undefined);
    assert.deepEqual(ends(), ['max_turn_requests by state']);
  });

  for (const status of ['saved', 'not_found'] as const) {
    it(`is lost if the agent answers ${status}, and the queue is paused`, async () => {
      const { conversation } = await open({ status, load: true });
      const far = await begin();
      conversation.send('next').done.catch(() => {});
      await cutWhile(() => agent.say(far, 'Meanwhile.'));
      assert.deepEqual(ends(), ['error by exit']);
      assert.match(projectSession(conversation).queuePaused ?? '', /^Paused: The connection to Far was lost/);
      assert.deepEqual(queue(), ['next: queued']);
      assert.equal(said(), far.said, 'what it said is here all the same');
    });
  }

  it("is lost if the agent can't be asked", async () => {
    const { conversation } = await open({ load: true, resume: true });
    const far = await begin();
    conversation.send('next').done.catch(() => {});
    agent.leave();
    await session.until(({ model }) => model.state.turn === undefined);
    assert.deepEqual(ends(), ['error by exit']);
    agent.say(far, 'Meanwhile.');
    agent.back();
    await session.until(isReady);
    assert.deepEqual(queue(), ['next: queued']);
    assert.equal(said(), far.said);
    assert.deepEqual(agent.received.slice(-1), ['session/load'], 'only that brings back what was missed');
  });

  it('prefers loading to resuming a session only after a turn was cut', async () => {
    await open({ status: 'states', load: true, resume: true });
    const far = await begin();
    await cutWhile(() => agent.end(far, 'end_turn'));
    assert.equal(agent.received.includes('session/resume'), false);
    await cutWhile(() => {});
    assert.deepEqual(agent.received.slice(-2), ['initialize', 'session/resume']);
  });

  it('shows later output in a session that can only be resumed', async () => {
    const { until } = await open({ status: 'states', resume: true }, { rejoinQuietMs: 20 });
    const far = await begin();
    await cutWhile(() => {});
    agent.say(far, 'And on.');
    agent.end(far, 'refusal');
    await until((c) => c.model.state.turn === undefined);
    assert.equal(said(), far.said);
    assert.deepEqual(ends(), ['refusal by state']);
  });

  it('shows the reconnecting and counts as busy', async () => {
    const { conversation, until } = await open({ status: 'states', load: true, turnComplete: true });
    const far = await begin();
    const words = new Set<string>();
    const seen = conversation.model.observe(
      new Changes(() => {
        if (isReady(conversation)) return;
        const { status, phase } = projectSession(conversation);
        words.add(`${phase}, ${sessionStatusOf(conversation)}: ${status}`);
      }),
    );
    await cutWhile(() => {});
    seen.dispose();
    assert.deepEqual([...words].slice(-2), [
      'recovering, working: Connection lost, reconnecting (1 of 20)',
      'recovering, working: Reconnecting…',
    ]);
    agent.end(far, 'end_turn');
    await until((c) => !c.isBusy);
  });

  it('withdraws open questions, which can be asked again', async () => {
    const { conversation, until } = await open({ status: 'states', load: true, turnComplete: true });
    const far = await begin();
    void agent.ask(far);
    await until(({ model }) => model.state.permissions.size === 1);
    await cutWhile(() => {});
    assert.equal(conversation.model.state.permissions.size, 0);
    const answer = agent.ask(far);
    await until(({ model }) => model.state.permissions.size === 1);
    const [id = ''] = conversation.model.state.permissions.keys();
    conversation.answerPermission(id, 'yes');
    assert.equal(await answer, 'yes');
    agent.end(far, 'end_turn');
    await until((c) => !c.isBusy);
  });

  it('is stopped over the next connection if Stop was not delivered', async () => {
    const { conversation, until } = await open({ status: 'states', load: true, turnComplete: true });
    const far = await begin();
    agent.breaksBefore = (method) => method === 'session/cancel';
    conversation.cancel();
    await until((c) => !isReady(c));
    agent.breaksBefore = () => false;
    await until((c) => c.model.state.turn === undefined);
    assert.deepEqual([far.stopReason, ...ends()], ['cancelled', 'cancelled by turn_complete']);
  });

  it('ends when the user stops the reconnecting', async () => {
    const { conversation, until } = await open({ status: 'states', load: true }, { reconnectDelaysMs: [1, 3_600_000] });
    await begin();
    agent.leave();
    await until((c) => c.connection.kind === 'recovering' && c.connection.attempt.attempt === 2);
    assert.ok(conversation.model.state.turn);
    conversation.cancel();
    assert.equal(conversation.connection.kind, 'exited');
    assert.deepEqual(ends(), ['error by exit']);
  });

  it('is lost when the workspace is no longer trusted', async () => {
    let isTrusted = true;
    const { until } = await open({ status: 'states', load: true }, { isTrusted: () => isTrusted });
    await begin();
    isTrusted = false;
    agent.cut();
    await until((c) => c.connection.kind === 'failed');
    assert.deepEqual(ends(), ['error by exit']);
  });

  it('continues in a session that the agent refuses to load but can resume', async () => {
    const { conversation, until } = await open({
      status: 'states',
      load: true,
      refusesLoad: true,
      resume: true,
      turnComplete: true,
    });
    const far = await begin();
    const { sessionId } = conversation;
    await cutWhile(() => {});
    assert.deepEqual(agent.received.slice(-3), ['session/load', 'session/resume', 'session/status']);
    assert.equal(conversation.sessionId, sessionId);
    agent.say(far, 'And on.');
    agent.end(far, 'max_tokens');
    await until((c) => c.model.state.turn === undefined);
    assert.equal(said(), far.said);
    assert.deepEqual(ends(), ['max_tokens by turn_complete']);
  });

  it('is lost if the server drops each connection, and the queue is paused', async () => {
    const { conversation, until } = await open(
      { status: 'states', load: true },
      { reconnectDelaysMs: Array.from({ length: 8 }, () => 1) },
    );
    const far = await begin();
    conversation.send('next').done.catch(() => {});
    const connections = (): number => agent.received.filter((method) => method === 'initialize').length;
    let dropped = 1;
    const seen = conversation.model.observe(
      new Changes(() => {
        if (!isReady(conversation) || dropped === connections()) return;
        dropped = connections();
        setImmediate(() => agent.cut());
      }),
    );
    agent.cut();
    await until((c) => c.connection.kind === 'exited');
    seen.dispose();
    assert.deepEqual(ends(), ['error by exit']);
    assert.deepEqual(queue(), ['next: queued']);
    assert.match(projectSession(conversation).queuePaused ?? '', /^Paused: The connection to Far was lost/);
    const { error } = projectSession(conversation);
    assert.match(error?.message ?? '', /^The connection to Far was lost: .* \(9 times in a row\)\.$/);
    assert.equal(error?.hint, 'Parley stopped reconnecting. Check the server, then reconnect.');
    assert.equal(error?.actions[0]?.label, 'Reconnect');
    assert.equal(said(), far.said);
    assert.equal(connections(), 9);
    agent.say(far, 'Meanwhile.');
    await conversation.restart();
    assert.ok(isReady(conversation), 'the user can try again');
  });

  it('waits longer while a tool call runs, and shows late output', async () => {
    const { until } = await open({ status: 'live', load: true }, { rejoinQuietMs: 20 });
    const far = await begin();
    await cutWhile(() => agent.call(far, 'Run the tests', 'in_progress'));
    const asked = (): number => agent.received.filter((method) => method === 'session/status').length;
    await agent.until(() => asked() >= 5);
    assert.ok(session.conversation.model.state.turn, 'the turn stays open');
    await until((c) => c.model.state.turn === undefined);
    assert.deepEqual([asked(), ...ends()], [12, 'unknown by timeout']); // two of them when it was back
    agent.say(far, 'It took a while.');
    await until(() => said() === far.said);
  });

  for (const transport of ['ws', 'http'] as const)
    it(`loses and repeats nothing in ${CUT_TURNS} turns that are cut at random, over ${transport}`, () =>
      cutAtRandom(transport));

  async function cutAtRandom(transport: 'ws' | 'http'): Promise<void> {
    const { conversation, until } = await open({
      ...(transport === 'http' && { transport }),
      status: 'states',
      load: true,
      resume: true,
      turnComplete: true,
    });
    const random = seeded(16);
    const reasons = ['end_turn', 'max_tokens', 'refusal'];
    const told: string[] = [];
    const sent: string[] = [];
    let breaks = 0;
    agent.breaksBefore = () => breaks > 0 && random(8) === 0 && breaks-- > 0;
    agent.onTurn = (far, text) => {
      let left = 4 + random(8);
      const step = (): void => {
        if (left-- > 0) {
          if (random(4) === 0) agent.call(far, `Read ${text}-${left}`);
          agent.say(far, `${text} says its word number ${left}. `);
          if (breaks > 0 && random(3) === 0) {
            breaks--;
            agent.cut();
          }
          setTimeout(step, random(4));
          return;
        }
        const reason = reasons[random(reasons.length)] ?? '';
        told.push(reason);
        agent.end(far, reason);
        if (breaks > 0) {
          breaks--;
          agent.cut();
        }
      };
      setTimeout(step, random(3));
    };
    await conversation.start();
    for (let round = 0; round < CUT_TURNS; round++) {
      const tag = `m${round}`;
      sent.push(tag);
      breaks = 1 + random(3);
      conversation.send(tag).done.catch(() => {});
      const isOver = (): boolean => isReady(conversation) && !conversation.isBusy;
      for (;;) {
        await until(() => isOver());
        breaks = 0;
        const doubtful = conversation.queue.items.find((item) => item.doubtful);
        if (doubtful) conversation.queueActions.sendNow(doubtful.id);
        else if (conversation.queue.items.length > 0) conversation.queueActions.resume();
        else break;
      }
    }
    const far = agent.only;
    assert.deepEqual(far.prompts, sent, 'each message arrived once');
    assert.equal(said(), far.said, 'each word is here once, in order');
    const own = conversation.model.state.turns.flatMap(({ stopReason = '' }) =>
      reasons.includes(stopReason) ? [stopReason] : [],
    );
    assert.deepEqual(own, told, 'each turn ended as the agent says');
    const connections = agent.received.filter((method) => method === 'initialize').length;
    assert.ok(connections > CUT_TURNS, `${connections} connections`);
  }
});
