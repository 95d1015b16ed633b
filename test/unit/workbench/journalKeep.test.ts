// A session that is only read stays free for other windows; the first word that is added to it makes it this window's own.
import { strict as assert } from 'node:assert';
import { silentLog } from '../../../src/base/log';
import { Journal } from '../../../src/store/journal';
import { thisMachine } from '../../../src/store/machine';
import { JournalKeep } from '../../../src/workbench/journalKeep';
import { removeScratch, scratchFolder } from '../../support/scratch';

const KEY = 'k1';

describe('a kept session', () => {
  let folder: string;
  const journals: Journal[] = [];
  const dead = new Set<number>();
  let windows = 0;

  beforeEach(async () => {
    folder = await scratchFolder();
    dead.clear();
  });
  afterEach(async () => {
    for (const journal of journals.splice(0)) journal.dispose();
    await removeScratch();
  });

  interface Window {
    readonly journal: Journal;
    readonly pid: number;
    readonly lost: () => number;
    keep(known?: boolean, key?: string): JournalKeep;
  }

  /** A window with a process of its own on the same journal. */
  function open(): Window {
    const pid = 1_000_000 + ++windows;
    const machine = {
      ...thisMachine,
      pid,
      isAlive: (one: number) => one > 1_000_000 && !dead.has(one),
      startOf: () => undefined,
    };
    const journal = Journal.open({ folder, log: silentLog, now: Date.now, machine });
    journals.push(journal);
    let lost = 0;
    const onLost = (): void => void lost++;
    return {
      journal,
      pid,
      lost: () => lost,
      keep: (known = true, key = KEY) => {
        const session = { key, agentId: 'a', cwd: '/w', roots: ['/w'] };
        return new JournalKeep({ journal, log: silentLog, windowId: `w${pid}`, session, onLost }, known);
      },
    };
  }

  const say = (keep: JournalKeep, turnId: string): void =>
    keep.events([
      { at: 1, event: { type: 'turn_started', turnId, origin: 'user', at: 1 } },
      { at: 2, event: { type: 'turn_ended', turnId, stopReason: 'end_turn', barrier: 'response', at: 2 } },
    ]);

  /** A session of a window that has let it go. */
  function past(): void {
    const window = open();
    say(window.keep(false), 't1');
    window.journal.release(KEY, `w${window.pid}`);
  }

  it('is free for other windows while it is only read and scrolled', () => {
    past();
    const [reader, other] = [open(), open()];
    const keep = reader.keep();
    keep.place({ index: 0, offset: 3 });
    assert.equal(keep.isUnclaimed, true);
    assert.equal(reader.journal.owner(KEY), undefined);
    assert.deepEqual(other.journal.claim(KEY, 'other'), { kind: 'owned' });
  });

  it('belongs to the window that adds something to it, and to the one that starts its agent', () => {
    past();
    const [writer, starter] = [open(), open()];
    const keep = writer.keep();
    keep.draft({ text: 'half a thought', revision: 1 }, []);
    assert.equal(keep.isUnclaimed, false);
    assert.equal(starter.journal.owner(KEY)?.pid, writer.pid);
    const late = starter.keep();
    assert.equal(late.claim(), false);
    assert.equal(starter.lost(), 1);
    writer.journal.release(KEY, `w${writer.pid}`);
    assert.equal(starter.keep().claim(), true);
    assert.equal(writer.journal.owner(KEY)?.pid, starter.pid);
  });

  it('is not written by a window that has read less than there is by now', () => {
    past();
    const [reader, other] = [open(), open()];
    const keep = reader.keep();
    say(other.keep(), 't2');
    other.journal.release(KEY, `w${other.pid}`);
    const before = other.journal.session(KEY)?.lastSeq;
    say(keep, 't3');
    assert.equal(keep.isLost, true);
    assert.equal(reader.lost(), 1);
    reader.journal.flush();
    assert.equal(other.journal.session(KEY)?.lastSeq, before);
    assert.equal(other.journal.owner(KEY), undefined, 'and it keeps nobody else from it');
  });

  it('is found again when its window was killed in it, and not when it was let go', () => {
    past();
    const killed = open();
    say(killed.keep(), 't2');
    say(killed.keep(false, 'k2'), 't1');
    const next = open();
    assert.deepEqual(next.journal.abandoned(), []);
    dead.add(killed.pid);
    assert.deepEqual(
      next.journal
        .abandoned()
        .map(({ key }) => key)
        .sort(),
      [KEY, 'k2'],
    );
    next.journal.claim('k2', `w${next.pid}`);
    next.journal.release('k2', `w${next.pid}`);
    assert.deepEqual(
      next.journal.abandoned().map(({ key }) => key),
      [KEY],
    );
  });
});
