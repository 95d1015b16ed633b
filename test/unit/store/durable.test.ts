// Data on disk when a call returns, and windows that create the same journal together.
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { silentLog } from '../../../src/base/log';
import type { SessionEvent } from '../../../src/session/events/event';
import { openJournalFile } from '../../../src/store/file/journalFile';
import { thisMachine } from '../../../src/store/file/machine';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { newSession, openJournal, said, timed } from '../../support/store/journals';

const HOLD = `
  const { workerData, parentPort } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(workerData);
  database.exec('BEGIN EXCLUSIVE');
  parentPort.postMessage('held');
  setTimeout(() => {
    database.exec('COMMIT');
    database.close();
  }, 400);
`;

function countSyncs(): { count(): number; restore(): void } {
  const { fdatasyncSync } = fs;
  let count = 0;
  const set = (sync: typeof fdatasyncSync): void => {
    fs.fdatasyncSync = sync;
    syncBuiltinESMExports();
  };
  set((file) => {
    count += 1;
    fdatasyncSync(file);
  });
  return { count: () => count, restore: () => set(fdatasyncSync) };
}

describe('a journal', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await scratchFolder();
  });
  afterEach(removeScratch);

  it('waits longer for another window that creates the same file than for a write', async () => {
    const worker = new Worker(HOLD, { eval: true, workerData: join(folder, 'parley.db') });
    await once(worker, 'message');
    const { sql } = openJournalFile({ folder, busyMs: 100, now: Date.now, log: silentLog });
    assert.ok(sql.pragma('user_version') > 0);
    sql.close();
    await once(worker, 'exit');
  });

  it('syncs messages and decisions of the user when the call returns, and the rest later', () => {
    const journal = openJournal(folder);
    const { count, restore } = countSyncs();
    try {
      journal.saveSession(newSession('a'));
      const syncedBy = (event: SessionEvent): number => {
        const before = count();
        journal.append('a', timed(2, event));
        return count() - before;
      };
      assert.equal(syncedBy({ type: 'turn_started', turnId: 't', origin: 'user', at: 1 }), 0);
      const content = [{ type: 'text', text: 'Do it' }] as const;
      assert.equal(syncedBy({ type: 'prompt_sent', turnId: 't', promptId: 'q1', content }), 1);
      const answer = { permissionId: 'p', outcome: 'selected', optionId: 'yes', by: 'user' } as const;
      assert.equal(syncedBy({ type: 'permission_closed', ...answer }), 1);
      assert.equal(
        syncedBy({ type: 'turn_ended', turnId: 't', stopReason: 'end_turn', barrier: 'response', at: 2 }),
        0,
      );
    } finally {
      restore();
      journal.dispose();
    }
  });

  const events: readonly SessionEvent[] = [
    { type: 'prompt_sent', turnId: 't', promptId: 'q1', content: [{ type: 'text', text: 'Do it' }] },
    { type: 'turn_ended', turnId: 't', stopReason: 'end_turn', barrier: 'response', at: 2 },
    { type: 'cancel_requested', turnId: 't' },
    { type: 'permission_closed', permissionId: 'p', outcome: 'selected', optionId: 'yes', by: 'user' },
    { type: 'cleared', replay: true },
  ];
  for (const event of events)
    it(`keeps ${event.type} and what came before it when its window is killed`, () => {
      const journal = openJournal(folder);
      journal.saveSession(newSession('a'));
      journal.append(
        'a',
        timed(1, { type: 'turn_started', turnId: 't', origin: 'user', at: 1 }, said('Before'), event),
      );
      const other = openJournal(folder, { machine: { ...thisMachine, isAlive: () => false } });
      const types = other.events('a').events.map(({ event: found }) => found.type);
      assert.deepEqual(types, ['turn_started', 'message_chunk', event.type]);
      other.dispose();
      journal.dispose();
    });

  it('commits durably only on request', () => {
    const { sql } = openJournalFile({ folder, busyMs: 100, now: Date.now, log: silentLog });
    const { count, restore } = countSyncs();
    try {
      const change = (): void => sql.exec('CREATE TABLE IF NOT EXISTS more (id)');
      sql.transaction(change);
      assert.equal(count(), 0);
      sql.transaction(change, true);
      assert.equal(count(), 1);
    } finally {
      restore();
      sql.close();
    }
  });
});
