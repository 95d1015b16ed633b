// Notification of writes to the journal by other windows.
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Journal, JournalOptions } from '../../../src/store/journal';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { HeldTimers, newSession, openJournal } from '../../support/store/journals';

describe('a change by another window', () => {
  let folder: string;
  const opened: Journal[] = [];

  beforeEach(async () => {
    folder = await scratchFolder();
  });
  afterEach(async () => {
    for (const journal of opened.splice(0)) journal.dispose();
    await removeScratch();
  });

  /** Without a delay, so that only the system's own counts. */
  function open(options: Partial<JournalOptions> = {}): {
    journal: Journal;
    changes: () => number;
    next(): Promise<void>;
  } {
    const journal = openJournal(folder, {
      schedule: (run) => {
        const timer = setTimeout(run, 0);
        return { dispose: () => clearTimeout(timer) };
      },
      ...options,
    });
    opened.push(journal);
    const target = new EventTarget();
    let count = 0;
    journal.onDidChangeElsewhere(() => {
      count++;
      target.dispatchEvent(new Event('change'));
    });
    return { journal, changes: () => count, next: async () => void (await once(target, 'change')) };
  }

  it('is reported, unlike own writes', async () => {
    const one = open();
    await one.next();
    one.journal.saveSession(newSession('a'));
    await delay(50);
    assert.equal(one.changes(), 1);
    const two = open();
    const told = one.next();
    two.journal.saveSession(newSession('b'));
    await told;
  });

  it('is reported after the file was replaced', async () => {
    const one = open();
    one.journal.saveSession(newSession('a'));
    for (const end of ['', '-wal', '-shm']) renameSync(join(folder, `parley.db${end}`), join(folder, `old.db${end}`));
    one.journal.saveSession(newSession('b'));
    await delay(50);
    const told = one.next();
    open().journal.saveSession(newSession('c'));
    await told;
  });

  it('is reported after another program unlocks the file', async () => {
    const [one, two] = [open(), open()];
    await two.next();
    const holder = new DatabaseSync(join(folder, 'parley.db'));
    holder.exec('BEGIN IMMEDIATE');
    one.journal.saveSession(newSession('a'));
    assert.equal(one.journal.state.kind, 'memory');
    holder.exec('ROLLBACK');
    holder.close();
    const told = two.next();
    assert.equal(one.journal.retry(), true);
    await told;
  });

  it('is reported if it is from another machine', async () => {
    const isShared = (): boolean => true;
    const one = open({ isShared });
    await one.next();
    const told = one.next();
    open({ isShared }).journal.saveSession(newSession('b'));
    await told;
  });

  it('causes no work while nothing is written', async () => {
    const timers = new HeldTimers();
    const { journal } = open({ schedule: timers.schedule });
    journal.saveSession(newSession('a'));
    for (let times = 0; times < 3; times++) {
      timers.run();
      await delay(20);
    }
    assert.equal(timers.count, 0);
  });
});
