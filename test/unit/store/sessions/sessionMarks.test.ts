// Marks of sessions for their list, in pages, and the filters.
import { strict as assert } from 'node:assert';
import type { Journal } from '../../../../src/store/journal';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { newSession, openJournal } from '../../../support/store/journals';

describe('the list of stored sessions', () => {
  after(removeScratch);

  async function withJournal(run: (journal: Journal) => void, now = () => 1000): Promise<void> {
    const journal = openJournal(await scratchFolder(), { now });
    try {
      run(journal);
    } finally {
      journal.dispose();
    }
  }

  const keys = (sessions: readonly { readonly key: string }[]): string[] => sessions.map(({ key }) => key);

  it('names sessions in pages, without deleted and empty ones', () => {
    let now = 1000;
    return withJournal(
      (journal) => {
        for (let index = 0; index < 25; index++)
          journal.saveSession(newSession(`s${index}`, { title: `Title ${index}` }));
        journal.saveSession(newSession('empty'));
        journal.saveSession(newSession('long', { title: 'x'.repeat(1000), cwd: '/else' }));
        journal.marks.mark('s4', { deleted: 5 });
        journal.marks.mark('s5', { archived: true });
        const first = journal.marks.names({ limit: 20 });
        const rest = journal.marks.names({ limit: 20, before: first.at(-1) ?? assert.fail() });
        const { name, updatedAt: _, ...of } = first[0] ?? assert.fail();
        assert.deepEqual([name.length, of], [200, { key: 'long', agentId: 'demo', cwd: '/else' }]);
        assert.deepEqual(
          keys([...first, ...rest]).slice(1),
          Array.from({ length: 25 }, (_, index) => `s${24 - index}`).filter((key) => key !== 's4'),
        );
      },
      () => now++,
    );
  });

  it('is read in pages, newest first, without archived and deleted ones', () =>
    withJournal(
      (journal) => {
        for (let index = 0; index < 250; index++) journal.saveSession(newSession(`s${index}`));
        journal.marks.mark('s3', { archived: true });
        journal.marks.mark('s4', { deleted: 5 });
        const seen: string[] = [];
        for (;;) {
          const last = seen.at(-1);
          const before = last === undefined ? undefined : journal.session(last);
          const page = journal.marks.list({ limit: 40, archived: false, ...(before && { before }) });
          seen.push(...keys(page));
          if (page.length < 40) break;
        }
        assert.equal(seen.length, 248);
        assert.equal(new Set(seen).size, 248);
        assert.deepEqual(
          ['s3', 's4'].filter((key) => seen.includes(key)),
          [],
        );
        assert.deepEqual(keys(journal.marks.list({ limit: 10, archived: true })), ['s3']);
      },
      () => 1000,
    ));

  it('is filtered by agent, folder and part of a title with any characters', () =>
    withJournal((journal) => {
      journal.saveSession(newSession('a', { agentId: 'one', title: '100% done_now' }));
      journal.saveSession(newSession('b', { agentId: 'two', cwd: '/other', title: '1000 donexnow' }));
      assert.deepEqual(keys(journal.marks.list({ limit: 10, text: '0% done_' })), ['a']);
      assert.deepEqual(keys(journal.marks.list({ limit: 10, agentId: 'two' })), ['b']);
      assert.deepEqual(keys(journal.marks.list({ limit: 10, cwd: '/other' })), ['b']);
      assert.deepEqual([...journal.marks.groups('agent', {})].sort(), ['one', 'two']);
    }));

  it('keeps each mark when another one changes', () =>
    withJournal((journal) => {
      journal.saveSession(newSession('a'));
      journal.marks.mark('a', { pinned: true, together: 't' });
      journal.marks.mark('a', { unread: true, files: 3 });
      assert.deepEqual(journal.marks.of('a'), {
        pinned: true,
        archived: false,
        unread: true,
        files: 3,
        together: 't',
      });
      journal.marks.mark('nobody', { pinned: true });
      assert.equal(journal.marks.of('nobody').pinned, false);
    }));

  it('has a deleted session that was restored', () =>
    withJournal((journal) => {
      journal.saveSession(newSession('a'));
      journal.marks.mark('a', { deleted: 500 });
      assert.deepEqual(journal.marks.deletedBefore(600), ['a']);
      assert.equal(journal.marks.isDeleted('a'), true);
      journal.marks.mark('a', { deleted: null });
      assert.deepEqual(journal.marks.deletedBefore(600), []);
      assert.deepEqual(keys(journal.marks.list({ limit: 5 })), ['a']);
    }));
});
