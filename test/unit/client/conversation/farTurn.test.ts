// Tests turns of remote agents that outlive their window, with a real journal: the next window asks
// for the outcome.

import { strict as assert } from 'node:assert';
import type { ConversationServices } from '../../../../src/client/conversation/conversationOptions';
import type { KeepPolicy } from '../../../../src/client/transport/keepers';
import { projectSession } from '../../../../src/client/view/projectSession';
import { FaultWindow } from '../../../support/faults/faultWindow';
import { TestKeepers } from '../../../support/keeper/keepers';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { DurableAgent, type DurableOptions, type DurableSession } from '../../../support/servers/durableAgent';
import { agentText, parseAgent, queuedTexts } from '../../../support/sessions/conversation';
import { seeded } from '../../../support/store/random';
import { seeds } from '../../../support/tier';

const WINDOWS = seeds(5, 40);

const ABLE = { status: 'states', load: true, turnComplete: true } as const;

describe('a turn of an agent on another machine whose window ends', function () {
  this.timeout(30_000);
  let agent: DurableAgent;
  let folder: string;
  let keepers: TestKeepers;
  let window: FaultWindow;
  let policy: KeepPolicy;

  beforeEach(async () => {
    folder = await scratchFolder();
    policy = 'finishTurn';
    keepers = await TestKeepers.make({ policy: () => policy });
  });

  afterEach(async () => {
    await window.close();
    await agent.close();
    await removeScratch();
  });

  function open(services: Partial<ConversationServices> = {}): FaultWindow {
    const delays = { reconnectDelaysMs: Array.from({ length: 8 }, () => 20) };
    const next = new FaultWindow({
      folder,
      agent: parseAgent({ name: 'Far', url: agent.url }, 'far'),
      services: { keepers: keepers.all, ...delays, ...services },
    });
    // As the workbench does for a restored session.
    if (next.conversation.connector.isAttaching) void next.conversation.start();
    return next;
  }

  async function begin(options: DurableOptions = ABLE): Promise<DurableSession> {
    agent = await DurableAgent.start(options);
    window = open();
    window.conversation.send('go').done.catch(() => {});
    await agent.until(() => agent.sessions.size > 0 && agent.only.prompts.length > 0);
    agent.say(agent.only, 'It begins. ');
    await window.session.until(() => said().endsWith('It begins. '));
    return agent.only;
  }

  const said = (): string => agentText(window.conversation);
  const ends = (): string[] =>
    window.conversation.model.state.turns.map(({ stopReason, barrier }) => `${stopReason} by ${barrier}`);

  async function reload(how: 'closed' | 'killed', meanwhile = (): void => {}): Promise<void> {
    if (how === 'killed') {
      window.lose();
      window.conversation.dispose(); // it would otherwise connect in this process
    } else {
      await window.conversation.close('window-ended');
      window.journal.dispose();
    }
    meanwhile();
    window = open();
  }

  for (const how of ['closed', 'killed'] as const)
    it(`continues in the next window if the window was ${how}`, async () => {
      const far = await begin();
      window.conversation.send('next').done.catch(() => {});
      await reload(how, () => {
        agent.say(far, 'Nobody listens. ');
        agent.call(far, 'Read a file');
      });
      const { conversation } = window;
      assert.ok(conversation.isBusy, 'the turn is open from the first moment');
      const { phase, queue } = projectSession(conversation);
      assert.deepEqual([phase, queue?.length], ['running', 1]);
      await window.session.until((c) => c.connection.kind === 'ready');
      assert.ok(conversation.model.state.turn);
      agent.say(far, 'It goes on.');
      agent.end(far, 'max_tokens');
      await agent.until(() => far.prompts.length === 2);
      assert.equal(said(), far.said);
      agent.end(far, 'end_turn');
      await window.session.until((c) => !c.isBusy);
      assert.deepEqual(ends(), ['max_tokens by turn_complete', 'end_turn by turn_complete']);
      assert.deepEqual(far.prompts, ['go', 'next']);
      assert.equal(agent.received.includes('session/close'), false);
      const { entries } = conversation.model.state;
      assert.deepEqual(
        entries.filter(({ kind }) => kind === 'notice' || kind === 'error'),
        [],
      );
    });

  it('waits for a server that is unreachable at first', async () => {
    const far = await begin();
    await reload('closed', () => agent.leave());
    await window.session.until((c) => c.connection.kind === 'recovering');
    assert.ok(window.conversation.model.state.turn);
    agent.back();
    await window.session.until((c) => c.connection.kind === 'ready');
    agent.end(far, 'end_turn');
    await window.session.until((c) => !c.isBusy);
    assert.deepEqual(ends(), ['end_turn by turn_complete']);
  });

  it('ends if the agent no longer has it, and the queue is paused', async () => {
    const far = await begin();
    window.conversation.send('next').done.catch(() => {});
    await reload('killed', () => agent.forget(far));
    await window.session.until((c) => c.model.state.turn === undefined);
    assert.deepEqual(ends(), ['error by exit']);
    assert.equal(window.conversation.queue.paused, 'window-ended');
    assert.deepEqual(queuedTexts(window.conversation), ['next']);
  });

  it('leaves a message in doubt that never reached the agent', async () => {
    const far = await begin();
    agent.end(far, 'end_turn');
    await window.session.until((c) => !c.isBusy);
    agent.breaksBefore = (method) => {
      if (method !== 'session/prompt') return false;
      window.lose();
      return true;
    };
    window.conversation.send('two').done.catch(() => {});
    await agent.until(() => window.conversation.link === undefined || !window.conversation.link.isAlive);
    agent.breaksBefore = () => false;
    window = open();
    await window.session.until((c) => c.model.state.turn === undefined);
    assert.deepEqual(
      window.conversation.queue.items.map(({ text, doubtful }) => `${text} ${doubtful}`),
      ['two true'],
    );
    assert.deepEqual(far.prompts, ['go']);
  });

  it('ends with the window if agents end with it or the agent can’t be asked', async () => {
    await begin();
    policy = 'off';
    await reload('closed');
    assert.equal(window.conversation.connector.isAttaching, false);
    assert.deepEqual(ends(), ['error by exit']);
    await window.close();
    await agent.close();
    folder = await scratchFolder();
    policy = 'finishTurn';
    await begin({ load: true, resume: true });
    await reload('killed');
    assert.equal(window.conversation.connector.isAttaching, false);
    assert.deepEqual(ends(), ['error by exit']);
  });

  it('is not reconnected to if no turn was open', async () => {
    const far = await begin();
    agent.end(far, 'end_turn');
    await window.session.until((c) => !c.isBusy);
    await reload('closed');
    assert.equal(window.conversation.connector.isAttaching, false);
    assert.equal(window.conversation.connection.kind, 'idle');
  });

  it(`loses and repeats nothing over ${WINDOWS} windows that end at random`, async () => {
    const far = await begin();
    const random = seeded(7);
    let turns = 1;
    let word = 0;
    for (let round = 0; round < WINDOWS; round++) {
      for (let left = random(4); left > 0; left--) {
        if (random(5) === 0) agent.call(far, `Read ${round}-${left}`);
        agent.say(far, `word ${word++}. `);
      }
      await new Promise((resolve) => setTimeout(resolve, random(8)));
      await reload(random(2) === 0 ? 'closed' : 'killed', () => {
        for (let left = random(3); left > 0; left--) agent.say(far, `alone ${word++}. `);
      });
      if (random(3) > 0) await window.session.until((c) => c.connection.kind === 'ready');
      if (random(4) > 0 || far.stopReason !== undefined) continue;
      await window.session.until((c) => c.connection.kind === 'ready');
      agent.end(far, 'max_tokens');
      await window.session.until((c) => !c.isBusy);
      window.conversation.send(`more ${round}`).done.catch(() => {});
      await agent.until(() => far.prompts.length === turns + 1);
      turns++;
    }
    await window.session.until((c) => c.connection.kind === 'ready');
    agent.end(far, 'refusal');
    await window.session.until((c) => !c.isBusy);
    assert.equal(said(), far.said);
    assert.deepEqual(
      ends().map((end) => end.split(' ')[0]),
      [...Array.from({ length: turns - 1 }, () => 'max_tokens'), 'refusal'],
    );
    assert.equal(far.prompts.length, turns);
  });
});
