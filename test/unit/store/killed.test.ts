// What the next window finds in the stream files of a killed one, whatever happened to the journal
// before.
import { strict as assert } from 'node:assert';
import fs, { renameSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { thisMachine } from '../../../src/store/file/machine';
import type { Journal } from '../../../src/store/journal';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { newSession, openJournal, said, textIn, timed } from '../../support/store/journals';

const KILLED = process.pid + 1_000_000;

/** The disk takes half of the next write. */
function fillDisk(): void {
  const { writeSync } = fs;
  let isFirst = true;
  fs.writeSync = ((file: number, text: Buffer | string) => {
    if (isFirst) {
      isFirst = false;
      return writeSync(file, Buffer.from(text).subarray(0, text.length / 2));
    }
    fs.writeSync = writeSync;
    syncBuiltinESMExports();
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  }) as typeof writeSync;
  syncBuiltinESMExports();
}

describe('the turn of a killed window', () => {
  let folder: string;
  let journal: Journal;

  beforeEach(async () => {
    folder = await scratchFolder();
    journal = openJournal(folder, { machine: { ...thisMachine, pid: KILLED } });
    for (const key of ['a', 'b']) {
      journal.saveSession(newSession(key));
      journal.claim(key, 'killed');
    }
  });

  afterEach(async () => {
    journal.dispose();
    await removeScratch();
  });

  const begin = (): void =>
    journal.append('a', timed(1, { type: 'turn_started', turnId: 't', origin: 'user', at: 1 }, said('one ')));
  const end = (): void =>
    journal.append(
      'a',
      timed(5, said('two '), { type: 'turn_ended', turnId: 't', stopReason: 'end_turn', barrier: 'response', at: 6 }),
    );

  function assertWhole(): void {
    const isAlive = (pid: number): boolean => pid !== KILLED;
    const next = openJournal(folder, { machine: { ...thisMachine, isAlive } });
    const { events } = next.events('a');
    next.dispose();
    assert.equal(textIn(events), 'one two ');
    const ends = events.filter(({ event }) => event.type !== 'message_chunk').map(({ event }) => event.type);
    assert.deepEqual(ends, ['turn_started', 'turn_ended']);
  }

  it('is whole after another program locked the file for a moment', () => {
    begin();
    const holder = new DatabaseSync(join(folder, 'parley.db'));
    holder.exec('BEGIN IMMEDIATE');
    journal.updateSession('b', { title: 'New' });
    assert.equal(journal.state.kind, 'memory');
    holder.exec('ROLLBACK');
    holder.close();
    assert.equal(journal.retry(), true);
    end();
    assertWhole();
  });

  it('is whole in a file that replaced the one it began in', () => {
    begin();
    for (const suffix of ['', '-wal', '-shm'])
      renameSync(join(folder, `parley.db${suffix}`), join(folder, `moved.db${suffix}`));
    journal.updateSession('b', { title: 'New' });
    end();
    assertWhole();
  });

  it('is whole after a line that the disk had room for half of', () => {
    begin();
    fillDisk();
    journal.side.saveView('b', { atEnd: true });
    journal.side.saveView('b', { atEnd: false });
    end();
    assertWhole();
  });

  it('is whole after another window read the session and scrolled', () => {
    begin();
    const reader = openJournal(folder, { machine: { ...thisMachine, isAlive: () => true } });
    reader.side.saveView('a', { atEnd: true });
    reader.dispose();
    end();
    assertWhole();
  });
});
