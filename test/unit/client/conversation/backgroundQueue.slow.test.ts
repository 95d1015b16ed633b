// Tests queues that continue without their window, with real keepers and agents, and two other
// windows on the same files.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { AgentDefinition } from '../../../../src/agents/agentDefinition';
import { silentLog } from '../../../../src/base/log';
import { Conversation } from '../../../../src/client/conversation/conversation';
import { sendingServices } from '../../../../src/client/conversation/sendInBackground';
import type { FoundKeeper } from '../../../../src/client/transport/keepers';
import { Journal } from '../../../../src/store/journal';
import { BackgroundQueue } from '../../../../src/workbench/overview/runningAgents';
import { JournalPersistence, readKept } from '../../../../src/workbench/sessions/journalPersistence';
import {
  assertKept,
  assertWhole,
  FaultWindow,
  keepingAgent,
  machineOf,
  tagsIn,
} from '../../../support/faults/faultWindow';
import { TestKeepers } from '../../../support/keeper/keepers';
import { goneFrom } from '../../../support/processes';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { queuedTexts, testServices, testTerminals } from '../../../support/sessions/conversation';

describe('a queue whose session has no window', function () {
  this.timeout(60_000);
  let folder: string;
  let agent: AgentDefinition;
  let keepers: TestKeepers;
  let windows: OtherWindow[];

  beforeEach(async () => {
    folder = await scratchFolder();
    agent = keepingAgent(folder, { turnComplete: true });
    keepers = await TestKeepers.make({ policy: () => 'keep' });
    windows = [];
  });

  afterEach(async () => {
    for (const window of windows) window.close();
    await keepers.end();
    await removeScratch();
  });

  function open(): FaultWindow {
    const window = new FaultWindow({ folder, agent, services: { keepers: keepers.all } });
    void window.conversation.start();
    return window;
  }

  class OtherWindow {
    readonly opened: Conversation[] = [];
    isOn = true;
    readonly #queue: BackgroundQueue;
    readonly #journal: Journal;
    readonly #id: string;
    readonly #terminals = testTerminals(silentLog);
    #background: readonly FoundKeeper[] = [];

    constructor(number: number) {
      windows.push(this);
      this.#id = `other-${number}`;
      const machine = machineOf(900 + number);
      this.#journal = Journal.open({ folder: join(folder, 'journal'), log: silentLog, now: Date.now, machine });
      const background = (): readonly FoundKeeper[] => this.#background;
      this.#queue = new BackgroundQueue({
        running: {
          get background() {
            return background();
          },
          onDidPoll: () => ({ dispose() {} }),
        },
        isOn: () => this.isOn,
        nextOf: (key) => this.#nextOf(key),
        open: (key) => this.#open(key),
        release: (key) => this.#journal.release(key, this.#id),
        log: silentLog,
      });
    }

    close(): void {
      this.#queue.dispose();
      this.#terminals.dispose();
      this.#journal.dispose();
    }

    async look(): Promise<void> {
      this.#background = (await keepers.all.list()).filter(({ state }) => state?.isAttached === false);
      await this.#queue.send();
    }

    #nextOf(key: string): string | undefined {
      if (this.#journal.session(key)?.queuePaused !== undefined) return undefined;
      const first = this.#journal.queue.items(key).find(({ state }) => state !== 'failed');
      return first?.state === 'queued' && !first.held ? first.id : undefined;
    }

    #open(key: string): Conversation | undefined {
      const known = this.#journal.session(key);
      if (!known || this.#journal.claim(key, this.#id).kind !== 'owned') return undefined;
      const options = { journal: this.#journal, log: silentLog, windowId: this.#id, session: known };
      const persistence = new JournalPersistence(options, true);
      const kept = readKept(this.#journal, key);
      this.#journal.release(key, this.#id);
      const services = sendingServices({ ...testServices(this.#terminals, silentLog), keepers: keepers.all });
      const { cwd, roots } = known;
      const conversation = new Conversation({ key, agent, cwd, roots, services, kept, persistence, onlySends: true });
      this.opened.push(conversation);
      return conversation;
    }
  }

  const state = async () => (await keepers.all.list())[0]?.state;

  async function untilIdle(): Promise<void> {
    for (;;) {
      const { isAttached, isWorking } = (await state()) ?? {};
      if (isAttached === false && isWorking === false) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async function left(...plays: readonly string[]): Promise<FaultWindow> {
    const window = open();
    plays.forEach((play, index) => {
      window.type(`m${index}`, play);
    });
    await window.session.until((c) => c.model.state.turn?.firstOutputAt !== undefined);
    await window.conversation.close('window-ended');
    window.journal.dispose();
    return window;
  }

  const prompts = ({ log }: FaultWindow): string[] =>
    log.flatMap(({ dir, msg }) =>
      dir === 'in' && msg?.method === 'session/prompt' ? tagsIn(JSON.stringify(msg.params)) : [],
    );

  it('is sent by other windows that check at the same time: each message once, in order', async () => {
    const window = await left('say I begin\nsleep 300', '', '', '', '');
    const others = [new OtherWindow(1), new OtherWindow(2)];
    for (let round = 0; round < 40 && prompts(window).length < 5; round++) {
      await untilIdle();
      await Promise.all(others.map((other) => other.look()));
    }
    await untilIdle();
    assert.deepEqual(prompts(window), ['m0', 'm1', 'm2', 'm3', 'm4']);
    const back = open();
    await back.session.until((c) => c.connection.kind === 'ready' && !c.isBusy && c.queue.items.length === 0);
    assertWhole(back.conversation.model.state, ['m0', 'm1', 'm2', 'm3', 'm4']);
    assertKept(back);
    assert.equal(back.agentPid, window.agentPid, 'the agent is the same');
    const { typed, received, lost, twice } = back.account('', ['m0', 'm1', 'm2', 'm3', 'm4']);
    assert.deepEqual({ typed, received, lost, twice }, { typed: 5, received: 5, lost: 0, twice: 0 });
    await back.close();
  });

  it('leaves the agent’s questions to the window that opens the session', async () => {
    const window = await left('say I begin\nsleep 100', 'permission', '');
    const other = new OtherWindow(1);
    await untilIdle();
    await other.look();
    while ((await state())?.waiting !== 1) await new Promise((resolve) => setTimeout(resolve, 20));
    await other.look();
    assert.equal(other.opened.length, 1, 'a session that asks is left alone');
    assert.deepEqual(prompts(window), ['m0', 'm1']);
    const back = open();
    await back.session.until((c) => c.model.state.permissions.size === 1);
    const [id = ''] = back.conversation.model.state.permissions.keys();
    assert.ok(back.conversation.answerPermission(id, 'allow'));
    await back.session.until((c) => !c.isBusy && c.queue.items.length === 0);
    assert.deepEqual(prompts(window), ['m0', 'm1', 'm2']);
    assertWhole(back.conversation.model.state, ['m0', 'm1', 'm2']);
    await back.close();
  });

  it('waits during a turn, while paused, without trust, or if disabled', async () => {
    const window = open();
    window.type('m0', 'say I begin\nsleep 500');
    window.type('m1');
    await window.session.until((c) => c.model.state.turn?.firstOutputAt !== undefined);
    window.conversation.queue.pause('by-user');
    await window.conversation.close('window-ended');
    window.journal.dispose();
    const other = new OtherWindow(1);
    await other.look();
    await untilIdle();
    await other.look();
    assert.equal(other.opened.length, 0, 'it is paused');
    const back = open();
    await back.session.until((c) => c.connection.kind === 'ready' && !c.isBusy);
    back.conversation.queueActions.resume();
    await back.session.until((c) => c.queue.items.length === 0);
    back.type('m2', 'say Again\nsleep 200');
    back.type('m3');
    await back.session.until(
      (c) => c.model.state.turns.at(-1)?.firstOutputAt !== undefined && c.queue.items.length === 1,
    );
    await back.conversation.close('window-ended');
    back.journal.dispose();
    other.isOn = false;
    await untilIdle();
    await other.look();
    assert.equal(other.opened.length, 0, 'the setting is off');
    assert.deepEqual(prompts(window), ['m0', 'm1', 'm2']);
    other.isOn = true;
    await other.look();
    await untilIdle();
    assert.deepEqual(prompts(window), ['m0', 'm1', 'm2', 'm3']);
  });

  it('stays unchanged if the agent has ended, and starts nothing', async () => {
    const window = await left('say I begin\nsleep 100', '');
    await untilIdle();
    const other = new OtherWindow(1);
    const found = (await keepers.all.list())[0];
    process.kill(found?.state?.agentPid ?? 0, 'SIGKILL');
    await goneFrom(found?.state?.agentPid ?? 0);
    // Its keeper may or may not have noticed yet.
    await other.look();
    await other.look();
    assert.equal(window.log.filter(({ ev }) => ev === 'start').length, 1);
    const back = open();
    await back.session.until((c) => c.queue.paused !== undefined);
    assert.deepEqual(queuedTexts(back.conversation), ['say <m1>']);
    assert.deepEqual(prompts(window), ['m0']);
    await back.close();
  });
});
