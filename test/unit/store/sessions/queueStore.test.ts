// Queued messages are on disk when the call returns, never lost and never sent twice.
import { strict as assert } from 'node:assert';
import { thisMachine } from '../../../../src/store/file/machine';
import type { Journal } from '../../../../src/store/journal';
import { sameData } from '../../../support/sameData';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { newSession, openJournal, queued, said, timed } from '../../../support/store/journals';

describe('QueueStore', () => {
  let folder: string;
  let journal: Journal;
  const ids = (from: Journal = journal): readonly string[] => from.queue.items('a').map((item) => item.id);

  beforeEach(async () => {
    folder = await scratchFolder();
    journal = openJournal(folder);
    journal.saveSession(newSession('a'));
  });

  afterEach(async () => {
    journal.dispose();
    await removeScratch();
  });

  it('has a message on disk when the call returns, with everything before it', () => {
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const;
    const attachment = {
      id: 'x',
      kind: 'image',
      label: 'shot',
      detail: '1 KB',
      thumbnail: 'data:x',
      forms: [image],
    } as const;
    const item = queued('q1', { text: 'hi \ud83d', attachments: [attachment] });
    journal.append('a', timed(1, said('before it')));
    journal.queue.enqueue('a', item);
    const isAlive = (pid: number): boolean => pid !== process.pid;
    const other = openJournal(folder, { machine: { ...thisMachine, pid: process.pid + 1, isAlive } });
    sameData(other.queue.items('a'), [item]);
    assert.equal(other.session('a')?.lastSeq, 1);
    other.dispose();
  });

  it("keeps the user's order", () => {
    for (const id of ['q1', 'q2', 'q3']) journal.queue.enqueue('a', queued(id));
    journal.queue.enqueue('a', queued('q0'), 'first');
    assert.deepEqual(ids(), ['q0', 'q1', 'q2', 'q3']);
    journal.queue.reorder('a', ['q3', 'unknown', 'q1']);
    assert.deepEqual(ids(), ['q3', 'q1', 'q0', 'q2']);
    assert.equal(journal.queue.remove('a', 'q1'), true);
    assert.equal(journal.queue.remove('a', 'q1'), false);
    journal.queue.enqueue('a', queued('q9'));
    const other = openJournal(folder);
    assert.deepEqual(ids(other), ['q3', 'q0', 'q2', 'q9']);
    other.dispose();
  });

  it('keeps edits, whether an item is being edited, and why the queue is paused', () => {
    journal.queue.enqueue('a', queued('q1'));
    journal.queue.edit('a', 'q1', { held: true });
    journal.queue.edit('a', 'q1', { text: 'new words' });
    journal.queue.setPaused('a', 'You pressed stop.');
    const other = openJournal(folder);
    sameData(other.queue.items('a'), [queued('q1', { text: 'new words', held: true })]);
    assert.equal(other.session('a')?.queuePaused, 'You pressed stop.');
    other.dispose();
    journal.queue.setPaused('a', undefined);
    assert.equal(journal.session('a')?.queuePaused, undefined);
  });

  it('prevents a message from being sent twice or changed after sending', () => {
    journal.queue.enqueue('a', queued('q1'));
    assert.throws(() => journal.queue.setState('a', 'q1', 'accepted'), { code: 'queue-state' });
    journal.queue.setState('a', 'q1', 'sending');
    assert.throws(() => journal.queue.setState('a', 'q1', 'sending'), { code: 'queue-state' });
    assert.throws(() => journal.queue.edit('a', 'q1', { text: 'late' }), { code: 'queue-state' });
    journal.queue.setState('a', 'q1', 'accepted');
    assert.throws(() => journal.queue.setState('a', 'q1', 'sending'), { code: 'queue-state' });
    assert.throws(() => journal.queue.setState('a', 'gone', 'sending'), { code: 'queue-no-item' });
    assert.throws(() => journal.queue.enqueue('a', queued('q1')), { code: 'queue-duplicate' });
  });

  it('remembers which message the agent may have received, until it is sent again', () => {
    const again = queued('q1-again', { state: 'failed', reason: 'nobody knows', doubtful: true, repeats: 'q1' });
    journal.queue.enqueue('a', again);
    journal.queue.enqueue('a', queued('q2'));
    journal.queue.setState('a', 'q2', 'failed', { reason: 'nobody knows', doubtful: true });
    const other = openJournal(folder);
    const doubtful = queued('q2', { state: 'failed', reason: 'nobody knows', doubtful: true });
    sameData(other.queue.items('a'), [again, doubtful]);
    other.queue.setState('a', 'q2', 'queued');
    other.queue.setState('a', 'q1-again', 'queued');
    sameData(other.queue.items('a'), [queued('q1-again', { text: again.text, repeats: 'q1' }), queued('q2')]);
    other.dispose();
  });

  it('limits the size and the number of messages', function () {
    this.timeout(20_000);
    const text = 'x'.repeat(65 * 1024 * 1024);
    assert.throws(() => journal.queue.enqueue('a', queued('big', { text })), { code: 'message-too-large' });
    for (let index = 0; index < 1000; index++) journal.queue.enqueue('a', queued(`q${index}`));
    assert.throws(() => journal.queue.enqueue('a', queued('more')), { code: 'queue-full' });
    assert.equal(ids().length, 1000);
  });
});
