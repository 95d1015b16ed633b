// Conversations that are kept: with real agents and a real journal, through the end of the agent and the end of the window.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type AgentDefinition, parseAgents } from '../../../../src/agents/agentDefinition';
import { silentLog } from '../../../../src/base/log';
import type { KeptConversation } from '../../../../src/client/conversation/persistence';
import { Sql } from '../../../../src/store/file/sql';
import { Journal } from '../../../../src/store/journal';
import { JournalPersistence, readKept } from '../../../../src/workbench/sessions/journalPersistence';
import { scriptedAgent } from '../../../support/agents/definition';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { type TestConversation, testConversation } from '../../../support/sessions/conversation';
import { SessionAgents } from '../../../support/sessions/sessionAgents';

const KEY = 'kept-1';

function plain(): AgentDefinition {
  const [agent] = parseAgents({ plain: scriptedAgent('plain') }).agents;
  assert.ok(agent);
  return agent;
}

describe('a conversation that is kept', () => {
  let folder: string;
  let journal: Journal | undefined;
  let session: TestConversation | undefined;

  beforeEach(async () => {
    folder = await scratchFolder();
  });

  afterEach(async () => {
    await session?.close();
    session = undefined;
    journal?.dispose();
    journal = undefined;
    await removeScratch();
  });

  function openWindow(agent: AgentDefinition = plain(), restarts = false): TestConversation {
    journal = Journal.open({ folder: join(folder, 'journal'), log: silentLog, now: Date.now });
    const known = journal.session(KEY) !== undefined;
    const cwd = folder;
    const facts = { key: KEY, agentId: agent.id, cwd, roots: [cwd] };
    const persistence = new JournalPersistence(
      { journal, log: silentLog, windowId: `window-${Math.random()}`, session: facts },
      known,
    );
    const kept: KeptConversation | undefined = known ? readKept(journal, KEY) : undefined;
    session = testConversation({
      agent,
      cwd,
      key: KEY,
      persistence,
      services: { restarts: () => restarts },
      ...(kept && { kept }),
    });
    return session;
  }

  function loseWindow(): void {
    journal?.flush();
    session?.conversation.link?.dispose();
    journal?.dispose();
    session = undefined;
  }

  const texts = ({ conversation }: TestConversation): string[] =>
    conversation.model.state.entries.flatMap((entry) =>
      entry.kind === 'user' || entry.kind === 'agent'
        ? [`${entry.kind}: ${entry.content.map((block) => (block.type === 'text' ? block.text : '')).join('')}`]
        : [],
    );

  it('keeps what was said when its window ends', async () => {
    const first = openWindow();
    await first.conversation.send('say one').done;
    const before = texts(first);
    loseWindow();
    const second = openWindow();
    assert.deepEqual(texts(second), before);
    assert.equal(second.conversation.model.state.turns.length, 1);
    await second.conversation.send('say two').done;
    assert.equal(second.conversation.model.state.turns.at(-1)?.id, 't2', 'its turns are counted on');
  });

  it('keeps queued messages in order, and drafts', async () => {
    const first = openWindow();
    first.conversation.send('slow 60000').done.catch(() => {});
    await first.until((c) => c.model.state.turn !== undefined);
    for (const text of ['first', 'second', 'third']) first.conversation.send(text).done.catch(() => {});
    first.conversation.queue.move(first.conversation.queue.items[2]?.id ?? '', 0);
    first.conversation.unsent.write({ text: 'half a sen', revision: 1 }, undefined);
    first.conversation.unsent.anchor = { index: 0, offset: 12 };
    first.conversation.unsent.attach({ id: 'a1', kind: 'file', label: 'x.ts', forms: [{ type: 'text', text: 'x' }] });
    loseWindow();
    const { conversation } = openWindow();
    const waiting = conversation.queue.items.filter(({ doubtful }) => !doubtful).map(({ text }) => text);
    assert.deepEqual(waiting, ['third', 'first', 'second']);
    assert.ok(conversation.queue.paused, 'nothing goes by itself');
    assert.equal(conversation.unsent.draft.text, 'half a sen');
    assert.deepEqual(conversation.unsent.anchor, { index: 0, offset: 12 });
    assert.deepEqual(
      conversation.unsent.attachments.map(({ label }) => label),
      ['x.ts'],
    );
    assert.equal(conversation.model.state.turns[0]?.barrier, 'exit');
  });

  it('says of its turn that the window was closed, and of its queue that it waits for the user', async () => {
    const first = openWindow();
    const sent = first.conversation.send('say Working.\nwait').done.catch(() => {});
    await first.until((c) => c.model.state.entries.some(({ kind }) => kind === 'agent'));
    first.conversation.send('say next').done.catch(() => {});
    await first.conversation.close('window-ended');
    await sent;
    journal?.dispose();
    session = undefined;
    const { conversation } = openWindow();
    const [turn] = conversation.model.state.turns;
    assert.deepEqual([turn?.stopReason, turn?.note], ['error', 'window-ended']);
    assert.equal(turn?.interrupted, true, 'nothing failed');
    assert.deepEqual(
      conversation.queue.items.map(({ text }) => text),
      ['say next'],
    );
    assert.equal(conversation.queue.paused, 'window-ended');
  });

  it('asks before a message is sent again that may have arrived', async () => {
    const first = openWindow();
    first.conversation.send('slow 60000').done.catch(() => {});
    await first.until((c) => c.model.state.turn !== undefined);
    first.conversation.send('say waiting').done.catch(() => {});
    loseWindow();
    const { conversation, until } = openWindow();
    const [doubtful] = conversation.queue.items;
    assert.ok(doubtful);
    assert.deepEqual([doubtful.state, doubtful.doubtful, doubtful.repeats], ['failed', true, 'q1']);
    conversation.queueActions.resume();
    await until((c) => c.model.state.turns.at(-1)?.stopReason === 'end_turn');
    assert.deepEqual(
      conversation.queue.items.map(({ id }) => id),
      [doubtful.id],
      'going on is not meant for it',
    );
    conversation.queueActions.sendNow(doubtful.id);
    await until((c) => c.queue.items.length === 0);
  });

  it('keeps a message that leaves at once without a transaction of its own, and never as one that waits', async () => {
    const { conversation } = openWindow();
    await conversation.send('say one').done;
    const statements: string[] = [];
    const { exec, run } = Sql.prototype;
    Sql.prototype.exec = function (sql) {
      statements.push(sql);
      exec.call(this, sql);
    };
    Sql.prototype.run = function (sql, ...values) {
      statements.push(sql);
      return run.call(this, sql, ...values);
    };
    try {
      const { done } = conversation.send('say two');
      assert.equal(statements.filter((sql) => sql === 'COMMIT').length, 0);
      assert.deepEqual(
        statements.filter((sql) => sql.includes('queue')),
        [],
      );
      assert.equal(journal?.events(KEY).events.at(-1)?.event.type, 'prompt_sent');
      await done;
    } finally {
      Object.assign(Sql.prototype, { exec, run });
    }
  });

  it('shows a session once when the agent opens it again', async () => {
    const agent = new SessionAgents(folder).definition({ load: true });
    const first = openWindow(agent);
    await first.conversation.send('say one').done;
    const before = texts(first);
    loseWindow();
    const second = openWindow(agent);
    await second.conversation.start();
    assert.equal(second.conversation.connection.kind, 'ready');
    assert.deepEqual(texts(second), before);
  });

  it('restarts an agent that exits unexpectedly', async () => {
    const { conversation, until } = openWindow(plain(), true);
    const { done } = conversation.send('say one\ndie 3');
    assert.equal((await done).stopReason, 'error');
    await until((c) => c.connection.kind === 'ready');
    assert.equal((await conversation.send('say two').done).stopReason, 'end_turn');
    const notices = conversation.model.state.entries.flatMap((entry) =>
      entry.kind === 'notice' ? [entry.said?.code ?? entry.title] : [],
    );
    assert.deepEqual(notices, ['new-session'], 'it is said that the agent does not know what is above');
  });

  it('gives up on an agent that exits each time', async () => {
    const { conversation, until } = openWindow(plain(), true);
    for (let count = 0; count < 4; count++) {
      await until((c) => c.connection.kind === 'ready' || c.connection.kind === 'idle');
      await conversation.send('die 3').done;
    }
    await until((c) => c.connection.kind === 'exited');
    const { connection } = conversation;
    assert.equal(connection.kind === 'exited' && connection.error.code, 'restart-loop');
  });
});
