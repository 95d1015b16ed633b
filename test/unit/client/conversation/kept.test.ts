// Tests stored conversations with real agents and a real journal, beyond the end of the agent and
// of the window.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { AgentDefinition } from '../../../../src/agents/agentDefinition';
import { silentLog } from '../../../../src/base/log';
import type { KeptConversation } from '../../../../src/client/conversation/persistence';
import { Journal } from '../../../../src/store/journal';
import { JournalPersistence, readKept } from '../../../../src/workbench/sessions/journalPersistence';
import { scriptedAgent } from '../../../support/agents/definition';
import { pluck } from '../../../support/pluck';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import {
  parseAgent,
  queuedTexts,
  type TestConversation,
  testConversation,
} from '../../../support/sessions/conversation';

const KEY = 'kept-1';

function plain(): AgentDefinition {
  const agent = parseAgent(scriptedAgent('plain'), 'plain');
  return agent;
}

describe('a stored conversation', () => {
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

  it('keeps its transcript when its window ends', async () => {
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
    assert.deepEqual(pluck(conversation.unsent.attachments, 'label'), ['x.ts']);
    assert.equal(conversation.model.state.turns[0]?.barrier, 'exit');
  });

  it('says that the window was closed during its turn, and that its queue waits for the user', async () => {
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
    assert.deepEqual(queuedTexts(conversation), ['say next']);
    assert.equal(conversation.queue.paused, 'window-ended');
  });

  it('asks before it sends a message again that may have arrived', async () => {
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
    assert.deepEqual(pluck(conversation.queue.items, 'id'), [doubtful.id], 'going on is not meant for it');
    conversation.queueActions.sendNow(doubtful.id);
    await until((c) => c.queue.items.length === 0);
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
