// Opening a long session shows its end immediately, at a cost independent of its length.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { ConversationPersistence } from '../../../../src/client/conversation/persistence';
import { Recorder } from '../../../../src/client/conversation/recorder';
import { restore } from '../../../../src/client/conversation/restore';
import { Unsent } from '../../../../src/client/conversation/unsent';
import type { TimedEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { PromptQueue } from '../../../../src/session/queue/queue';
import type { Backing } from '../../../../src/store/backing';
import { readTail } from '../../../../src/store/events/eventPages';
import { Sql } from '../../../../src/store/file/sql';
import type { Journal } from '../../../../src/store/journal';
import { readKept } from '../../../../src/workbench/sessions/journalPersistence';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { newSession, openJournal, timed, turn } from '../../../support/store/journals';

class CountingSql extends Sql {
  count = 0;

  override lists(...args: Parameters<Sql['lists']>): ReturnType<Sql['lists']> {
    const all = super.lists(...args);
    this.count += all.length;
    return all;
  }

  override *rows(...args: Parameters<Sql['rows']>): ReturnType<Sql['rows']> {
    for (const row of super.rows(...args)) {
      this.count++;
      yield row;
    }
  }
}

describe('opening a long session', () => {
  let folder: string;
  let journal: Journal;

  beforeEach(async () => {
    folder = await scratchFolder();
    journal = openJournal(folder);
    journal.saveSession(newSession('a'));
  });

  afterEach(async () => {
    journal.dispose();
    await removeScratch();
  });

  function keep(events: Iterable<TimedEvent>): void {
    const into = { events: (some) => journal.append('a', some) } as ConversationPersistence;
    const recorder = new Recorder(new SessionModel(), into, () => 1);
    for (const { event } of events) recorder.apply(event);
    journal.flush();
  }

  function* call(id: string, output: string): Generator<TimedEvent> {
    const patch = {
      title: 'Run',
      status: 'completed',
      content: [{ type: 'content', block: { type: 'text', text: output } }],
    } as const;
    yield* timed(1, { type: 'tool_call', toolCallId: id, patch, announced: true });
  }

  it('reads no more rows than the end has', () => {
    keep(Array.from({ length: 400 }, (_, index) => turn(`t${index}`, index * 10, 'go', `answer ${index}`)).flat());
    const sql = new CountingSql(join(folder, 'parley.db'));
    const backing = { read: (_key: string, query: (from: Sql) => unknown) => query(sql) } as unknown as Backing;
    const end = readTail(backing, 'a', 20) ?? assert.fail('no end');
    sql.close();
    assert.ok(sql.count <= 60, `${sql.count} rows for 20 entries`);
    assert.ok(end.from > 1500);
  });

  it('can start within a turn of a thousand calls', () => {
    const output = 'a line of output\n'.repeat(1200);
    function* long(): Generator<TimedEvent> {
      yield* timed(1, { type: 'turn_started', turnId: 't1', origin: 'user', at: 1 });
      for (let index = 0; index < 1000; index++) yield* call(`c${index}`, `${index} ${output}`);
    }
    keep(long());
    const { model, whole } = readKept(journal, 'a');
    assert.ok(whole, 'the rest is read later');
    const there = model.state.entries.length - model.begins;
    assert.ok(there >= 64 && there <= 160, `${there} of ${model.state.entries.length} entries`);
  });

  it('creates only as many placeholders as are shown, however long the session', () => {
    const { entries } = SessionModel.after({ entries: 100_000, turns: 5000 }, 0).state;
    assert.equal(entries.length, 100_000);
    assert.ok(new Set(entries).size <= 65, `${new Set(entries).size}`);
    assert.equal(new Set(entries.slice(-64).map(({ id }) => id)).size, 64);
  });

  it('checks nothing that is not loaded yet', () => {
    const model = SessionModel.after({ entries: 100_000, turns: 5000 }, 0);
    for (const { at, event } of turn('t', 1, 'go', 'done')) model.apply(event, at);
    const { state, begins } = model;
    let looked = 0;
    const entries = new Proxy(state.entries, {
      get: (target, name) => {
        if (typeof name === 'string' && /^\d+$/.test(name)) looked++;
        return Reflect.get(target, name);
      },
    });
    const seen = { state: { ...state, entries }, begins } as SessionModel;
    const queue = new PromptQueue(() => {});
    const kept = { model, queue: [], draft: { text: '', revision: 0 }, attachments: [] };
    restore({ model: seen, queue, unsent: new Unsent(undefined, () => {}) }, kept, () => {}, 1);
    assert.ok(looked <= 100, `${looked} entries`);
  });

  it('gives no message an id that an unread one has', () => {
    function* long(): Generator<TimedEvent> {
      yield* timed(1, { type: 'turn_started', turnId: 't1', origin: 'user', at: 1 });
      const content = [{ type: 'text', text: 'go' }] as const;
      yield* timed(2, { type: 'prompt_sent', turnId: 't1', promptId: 'q3', content });
      for (let index = 0; index < 1000; index++) yield* call(`c${index}`, `${index} ${'x'.repeat(500)}`);
    }
    keep(long());
    const kept = readKept(journal, 'a');
    const queue = new PromptQueue(() => {});
    restore({ model: kept.model, queue, unsent: new Unsent(undefined, () => {}) }, kept, () => {}, 1);
    assert.ok(Number(queue.add('next', [], 'last').id.slice(1)) > 3);
  });
});
