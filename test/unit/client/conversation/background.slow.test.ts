// Tests turns that outlive their window, with a real keeper, agent and journal.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentDefinition } from '../../../../src/agents/agentDefinition';
import { silentLog } from '../../../../src/base/log';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { Keepers } from '../../../../src/client/transport/keepers';
import { Changes } from '../../../../src/session/model/changes';
import { scriptedAgent } from '../../../support/agents/definition';
import { TestChangeServices } from '../../../support/changes/changeServices';
import { FaultWindow } from '../../../support/faults/faultWindow';
import { TestKeepers } from '../../../support/keeper/keepers';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { parseAgent, stopReasons } from '../../../support/sessions/conversation';

function plain(): AgentDefinition {
  const agent = parseAgent(scriptedAgent('plain'), 'plain');
  return agent;
}

function saidIn({ model }: Conversation, turn: number): string {
  const id = model.state.turns[turn]?.id;
  return model.state.entries
    .flatMap((entry) => (entry.kind === 'agent' && entry.turnId === id ? entry.content : []))
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join('');
}

describe('a turn that outlives its window', () => {
  let folder: string;
  let keepers: TestKeepers;
  let window: FaultWindow;
  let changes: TestChangeServices | undefined;

  beforeEach(async () => {
    folder = await scratchFolder();
    keepers = await TestKeepers.make();
    changes = undefined;
    window = open();
  });

  afterEach(async () => {
    await window.close();
    await keepers.end();
    await removeScratch();
  });

  function open(isTrusted = true): FaultWindow {
    const services = { keepers: keepers.all, isTrusted: () => isTrusted, ...(changes && { changes }) };
    const next = new FaultWindow({ folder, agent: plain(), services });
    void next.conversation.start();
    return next;
  }

  it('ends with the window if no keeper can start, but its agent starts anyway', async () => {
    await window.close();
    const broken = new Keepers({
      folder: join(folder, 'keepers'),
      program: join(folder, 'no-such-program.js'),
      policy: () => 'keep',
      log: silentLog,
    });
    window = new FaultWindow({ folder, agent: plain(), services: { keepers: broken } });
    const { conversation } = window;
    await conversation.start();
    assert.equal((await conversation.send('say here').done).stopReason, 'end_turn');
    assert.equal(conversation.link?.kept, undefined);
    assert.deepEqual(await broken.list(), []);
  });

  async function agentEnded(): Promise<void> {
    while ((await keepers.all.list()).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  async function turnEnded(): Promise<void> {
    for (;;) {
      const { isAttached, isWorking } = (await keepers.all.list())[0]?.state ?? {};
      if (isAttached === false && isWorking === false) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async function recording(): Promise<void> {
    await window.close();
    folder = await scratchFolder();
    changes = new TestChangeServices(await scratchFolder());
    await writeFile(join(folder, '.gitignore'), '*\n!*.txt\n');
    await writeFile(join(folder, 'a.txt'), 'one\n');
    execFileSync('git', ['init', '-q'], { cwd: folder });
    window = open();
    await window.session.until((c) => c.connection.kind === 'ready');
    await window.conversation.changes.settled();
  }

  async function changed(): Promise<readonly unknown[]> {
    const { conversation } = window;
    await window.session.until((c) => !c.isBusy);
    await conversation.changes.settled();
    const [turn] = conversation.model.state.turns;
    const files = await conversation.changes.changesOf(turn?.id ?? '');
    return [files.map(({ path }) => path), turn?.changes?.incomplete, turn?.changes?.alsoYours];
  }

  async function reload(isTrusted = true): Promise<void> {
    await window.conversation.close('window-ended');
    window.journal.dispose();
    window = open(isTrusted);
  }

  it('continues after a reload mid-stream, and ends with the stop reason of the agent', async () => {
    await window.conversation.send('flood 400 0 END').done;
    const whole = saidIn(window.conversation, 0);
    window.conversation.send('flood 400 400 END').done.catch(() => {});
    window.conversation.send('say next').done.catch(() => {});
    await window.session.until((c) => saidIn(c, 1).length > 100);
    await reload();
    assert.ok(window.conversation.connector.isAttaching);
    assert.ok(window.conversation.isBusy);
    assert.deepEqual(
      window.conversation.queue.items.map(({ text, state }) => `${text} ${state}`),
      ['say next queued'],
    );
    assert.ok(saidIn(window.conversation, 1).length < whole.length, 'the turn is in the middle');
    await window.session.until((c) => c.model.state.turns.length === 3 && !c.isBusy);
    assert.equal(saidIn(window.conversation, 1), whole);
    assert.equal(saidIn(window.conversation, 2), 'next');
    assert.deepEqual(
      window.conversation.model.state.turns.map(({ stopReason, barrier }) => `${stopReason} ${barrier}`),
      ['end_turn response', 'end_turn response', 'end_turn response'],
    );
  });

  it('lists the agent’s changes from before and after a reload, and the user’s edits', async () => {
    await recording();
    window.conversation.send('own a.txt x\nelicit\nown c.txt y').done.catch(() => {});
    await window.session.until((c) => c.model.state.elicitations.size === 1);
    await window.conversation.changes.settled();
    changes?.edited.add(join(folder, 'a.txt'));
    await reload();
    changes?.edited.clear();
    await window.session.until((c) => c.changes.total(c.model.state.turn?.id ?? '')?.files === 1);
    const [asked] = window.conversation.model.state.elicitations.keys();
    window.conversation.elicitations.refuse(asked ?? '', 'decline');
    assert.deepEqual(await changed(), [['a.txt', 'c.txt'], undefined, [join(folder, 'a.txt')]]);
  });

  it('lists its changes in the next window if it ended without one, and says that later ones may be included', async () => {
    await recording();
    window.conversation.send('run until [ -e go ]; do sleep 0.05; done\nown a.txt x').done.catch(() => {});
    await window.session.until((c) => c.model.state.turns[0]?.changes !== undefined);
    await window.conversation.close('window-ended');
    window.journal.dispose();
    await writeFile(join(folder, 'go'), '');
    await turnEnded();
    const release = changes?.holdUp();
    window = open();
    await window.session.until((c) => !c.isBusy);
    release?.();
    assert.deepEqual(await changed(), [['a.txt'], 'interrupted', undefined]);
  });

  it('waits in an untrusted workspace, and continues once it is trusted', async () => {
    window.conversation.send('say Working.\nwait').done.catch(() => {});
    await window.session.until((c) => saidIn(c, 0) === 'Working.');
    await reload(false);
    await window.session.until((c) => c.connection.kind === 'failed');
    const [found] = await keepers.all.list();
    assert.deepEqual([found?.state?.isAttached, found?.state?.isWorking], [false, true]);
    await reload();
    await window.session.until((c) => c.connection.kind === 'ready');
    assert.ok(window.conversation.isBusy);
    assert.deepEqual(stopReasons(window.conversation), [undefined]);
  });

  it('ends with a session that is closed before its agent is attached', async () => {
    window.conversation.send('say Working.\nwait').done.catch(() => {});
    await window.session.until((c) => saidIn(c, 0) === 'Working.');
    await reload(false);
    await window.session.until((c) => c.connection.kind === 'failed');
    await window.conversation.close();
    assert.deepEqual(await keepers.all.list(), []);
    assert.equal(window.conversation.isBusy, false);
  });

  it('ends as after a crash if its keeper has died', async () => {
    window.conversation.send('say Working.\nwait').done.catch(() => {});
    await window.session.until((c) => saidIn(c, 0) === 'Working.');
    await window.conversation.close('window-ended');
    window.journal.dispose();
    await keepers.end();
    window = open();
    await window.session.until((c) => !c.isBusy && c.connection.kind === 'ready');
    const [turn] = window.conversation.model.state.turns;
    assert.deepEqual([turn?.stopReason, turn?.barrier], ['error', 'exit']);
  });

  it('ends without an error if its agent exited after finishing', async () => {
    window.conversation.send('say Working.\nsleep 300\nsay Done.').done.catch(() => {});
    window.conversation.send('say next').done.catch(() => {});
    await window.session.until((c) => saidIn(c, 0) === 'Working.');
    const { id } = window.conversation.link?.kept?.agent ?? {};
    assert.ok(id !== undefined);
    await window.conversation.close('window-ended');
    window.journal.dispose();
    await turnEnded();
    await (await keepers.attachWith(id, { leaveAfterMs: 0 })).detach();
    await agentEnded();
    assert.deepEqual(await keepers.left(), [id]);
    window = open();
    const { conversation } = window;
    const states: string[] = [];
    conversation.model.observe(new Changes(() => states.push(conversation.connection.kind)));
    await window.session.until((c) => !c.connector.isAttaching && c.connection.kind === 'idle');
    assert.equal(saidIn(conversation, 0), 'Working.Done.');
    assert.equal(conversation.model.state.turns[0]?.stopReason, 'end_turn');
    const told = conversation.model.state.entries.map(({ kind }) => kind);
    assert.ok(!told.includes('error') && !told.includes('notice'), told.join());
    for (const state of ['exited', 'recovering', 'failed']) assert.ok(!states.includes(state), states.join());
    assert.deepEqual(
      conversation.queue.items.map(({ text, state }) => `${text} ${state}`),
      ['say next queued'],
    );
    assert.equal(conversation.queue.paused, 'window-ended');
    conversation.queueActions.resume();
    await window.session.until((c) => saidIn(c, 1) === 'next' && !c.isBusy);
  });
});
