// What is forgotten, and what must not be.
import { strict as assert } from 'node:assert';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Journal } from '../../../src/store/journal';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { newSession, openJournal, queued, turn } from '../../support/store/journals';

const DAY = 24 * 60 * 60 * 1000;
const never = new AbortController().signal;

describe('prune', () => {
  let folder: string;
  let now: number;
  let journal: Journal;
  const keys = (): readonly string[] =>
    journal
      .sessions({ limit: 100, includeArchived: true })
      .map((session) => session.key)
      .sort();

  beforeEach(async () => {
    folder = await scratchFolder();
    now = 100 * DAY;
    journal = openJournal(folder, { now: () => now });
    for (const [index, key] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      now = (90 + index) * DAY;
      journal.saveSession(newSession(key));
      const words = Array.from({ length: 20_000 }, (_, word) => `word${word}`).join(' ');
      journal.append(key, turn('t1', now, `question ${key}`, words));
    }
    now = 100 * DAY;
  });

  afterEach(async () => {
    journal.dispose();
    await removeScratch();
  });

  it('keeps what is too old, or forgets what is not', async () => {
    const pruned = await journal.prune({ maxAgeDays: 8 }, never);
    assert.deepEqual(pruned.keys, ['a', 'b']);
    assert.deepEqual(keys(), ['c', 'd', 'e']);
    assert.deepEqual(
      journal
        .search('question', 10)
        .map((result) => result.session.key)
        .sort(),
      ['c', 'd', 'e'],
    );
    assert.deepEqual((await journal.prune({}, never)).keys, []);
  });

  it('forgets the newest first, or keeps sessions that ended rather than those that go on', async () => {
    journal.updateSession('d', { ended: 'closed' });
    const { bytesBefore } = await journal.prune({}, never);
    const pruned = await journal.prune({ maxBytes: bytesBefore * 0.7 }, never);
    assert.deepEqual(pruned.keys, ['d', 'a']);
    assert.deepEqual(keys(), ['b', 'c', 'e']);
  });

  it('forgets a session that a window has open, or messages that were never sent', async () => {
    journal.claim('a', 'w1');
    journal.queue.enqueue('b', queued('q1'));
    journal.side.saveDraft('c', { text: 'half', attachments: [] });
    assert.deepEqual((await journal.prune({ maxBytes: 0 }, never)).keys, ['d', 'e']);
    assert.deepEqual((await journal.prune({ maxAgeDays: 0 }, never)).keys, ['b', 'c']);
    assert.deepEqual(keys(), ['a']);
  });

  it('keeps the room on the disk', async () => {
    const size = (): number => statSync(join(folder, 'parley.db')).size;
    journal.dispose();
    const before = size();
    journal = openJournal(folder, { now: () => now });
    const pruned = await journal.prune({ maxBytes: 0 }, never);
    journal.dispose();
    assert.equal(pruned.keys.length, 5);
    assert.ok(pruned.bytesAfter < pruned.bytesBefore / 2, `${pruned.bytesBefore} → ${pruned.bytesAfter}`);
    assert.ok(size() < before / 2, `${before} → ${size()}`);
    journal = openJournal(folder);
  });

  it('goes on after it was told to stop', async () => {
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    await assert.rejects(journal.prune({ maxBytes: 0 }, controller.signal), /enough/);
    assert.equal(keys().length, 5);
  });
});
