// Which sessions are deleted and which are kept.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Journal } from '../../../../src/store/journal';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { modelOf, newSession, openJournal, queued, searchIn, turn } from '../../../support/store/journals';

const DAY = 24 * 60 * 60 * 1000;
const never = new AbortController().signal;

describe('prune', () => {
  let folder: string;
  let now: number;
  let journal: Journal;
  const keys = (): readonly string[] =>
    journal
      .sessions({ limit: 100 })
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

  /** Advances a correct clock until sessions that are too old can be deleted. */
  const findOld = async (maxAgeDays: number): Promise<void> => {
    now -= 4 * DAY;
    await journal.prune({ maxAgeDays: maxAgeDays - 4 }, never);
    now += 4 * DAY;
  };

  it('deletes sessions that have been too old for three days', async () => {
    assert.deepEqual((await journal.prune({ maxAgeDays: 8 }, never)).keys, []);
    await findOld(8);
    const pruned = await journal.prune({ maxAgeDays: 8 }, never);
    assert.deepEqual(pruned.keys, ['a', 'b']);
    assert.deepEqual(keys(), ['c', 'd', 'e']);
    // Each search indexes a part of the long answers.
    for (let more = 0; more < 10; more++) searchIn(journal, 'question', 10);
    assert.deepEqual(
      searchIn(journal, 'question', 10)
        .map((result) => result.session.key)
        .sort(),
      ['c', 'd', 'e'],
    );
    assert.deepEqual((await journal.prune({}, never)).keys, []);
  });

  it('deletes ended sessions first, oldest first', async () => {
    journal.updateSession('d', { ended: 'closed' });
    const { bytesBefore } = await journal.prune({}, never);
    const pruned = await journal.prune({ maxBytes: bytesBefore * 0.7 }, never);
    assert.deepEqual(pruned.keys, ['d', 'a']);
    assert.deepEqual(keys(), ['b', 'c', 'e']);
  });

  it('keeps a session that a window has open and, if only the size is exceeded, unsent messages', async () => {
    journal.claim('a', 'w1');
    journal.queue.enqueue('b', queued('q1'));
    journal.side.saveDraft('c', { text: 'half', revision: 1, attachments: [] });
    journal.side.saveDraft('d', { text: '', revision: 2, attachments: [] });
    assert.deepEqual((await journal.prune({ maxBytes: 0 }, never)).keys, ['d', 'e']);
    await findOld(4);
    assert.deepEqual((await journal.prune({ maxAgeDays: 0 }, never)).keys, ['b', 'c']);
    assert.deepEqual(keys(), ['a']);
  });

  it('frees disk space', async () => {
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

  it('deletes nothing after the clock was temporarily wrong, ahead or behind', async () => {
    for (const wrong of [400, -400]) {
      now += wrong * DAY;
      assert.deepEqual((await journal.prune({ maxAgeDays: 180 }, never)).keys, []);
      journal.append('e', turn(`t${wrong}`, now, 'used meanwhile', 'yes'));
      now += DAY;
      assert.deepEqual((await journal.prune({ maxAgeDays: 180 }, never)).keys, []);
      now -= (wrong + 1) * DAY;
      assert.deepEqual((await journal.prune({ maxAgeDays: 180 }, never)).keys, []);
    }
    // Records from the wrong time were deleted, so the next time starts over.
    now += 400 * DAY;
    assert.deepEqual((await journal.prune({ maxAgeDays: 180 }, never)).keys, []);
    assert.equal(keys().length, 5);
  });

  it('removes old outputs from a session above its share, and no messages', async () => {
    const noisy = 'noisy';
    now = 99 * DAY;
    journal.saveSession(newSession(noisy));
    for (let count = 0; count < 60; count++) {
      const text = randomBytes(15_000).toString('base64');
      const content = [{ type: 'content', block: { type: 'text', text } }] as const;
      const patch = { title: 'Run', content };
      const words = [{ type: 'text', text: `said ${count}` }] as const;
      journal.append(noisy, [
        { at: now, event: { type: 'tool_call', toolCallId: `c${count}`, patch, announced: true } },
        { at: now, event: { type: 'message', role: 'agent', messageId: `m${count}`, content: words } },
      ]);
    }
    const before = journal.session(noisy)?.bytes ?? 0;
    const pruned = await journal.prune({ maxBytes: 8 * 400_000 }, never);
    assert.deepEqual(pruned.keys, [], 'no other session goes for it');
    const after = journal.session(noisy)?.bytes ?? 0;
    assert.ok(before > 800_000 && after <= 400_000 && after > 300_000, `${before} ${after}`);
    const { entries } = modelOf(journal.events(noisy).events).state;
    assert.equal(entries.filter(({ kind }) => kind === 'agent').length, 60);
    assert.match(JSON.stringify(entries[0]), /no longer kept/);
    assert.doesNotMatch(JSON.stringify(entries.at(-2)), /no longer kept/);
  });

  it('deletes at most a quarter of many sessions in one run', async () => {
    for (let index = 0; index < 55; index++) journal.saveSession(newSession(`old ${index}`));
    now += 10 * DAY;
    assert.equal((await journal.prune({ maxAgeDays: 1 }, never)).keys.length, 0, 'found too old now');
    now += 10 * DAY;
    assert.equal((await journal.prune({ maxAgeDays: 1 }, never)).keys.length, 15);
  });

  it('stops when aborted', async () => {
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    await assert.rejects(journal.prune({ maxBytes: 0 }, controller.signal), /enough/);
    assert.equal(keys().length, 5);
  });
});
