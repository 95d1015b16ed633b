// Ownership of a session by one of two windows.
import { strict as assert } from 'node:assert';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from '../../../../src/store/file/machine';
import type { Journal, JournalOptions } from '../../../../src/store/journal';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { HeldTimers, newSession, openJournal, queued, said, textIn, timed } from '../../../support/store/journals';

const MINUTE = 60_000;

describe('the owner of a session', () => {
  let folder: string;
  let now: number;
  let ticks: number;
  let dead: boolean;
  let timers: HeldTimers;
  let one: Journal;
  let two: Journal;
  const opened: Journal[] = [];

  beforeEach(async () => {
    folder = await scratchFolder();
    now = 1_000_000;
    ticks = 500_000;
    dead = false;
    timers = new HeldTimers();
    one = open(101, {}, { schedule: timers.schedule });
    one.saveSession(newSession('a'));
    two = open(102);
  });

  afterEach(async () => {
    for (const journal of opened.splice(0)) journal.dispose();
    await removeScratch();
  });

  /** The journal of another process on this folder. */
  function open(pid: number, more: Partial<Machine> = {}, options: Partial<JournalOptions> = {}): Journal {
    const machine: Machine = {
      host: 'here',
      boot: 'first boot',
      pid,
      ticks: () => ticks,
      isAlive: () => !dead,
      startOf: (of) => `start of ${of}`,
      ...more,
    };
    const journal = openJournal(folder, { now: () => now, machine, ...options });
    opened.push(journal);
    return journal;
  }

  function wait(ms: number): void {
    now += ms;
    ticks += ms;
  }

  it('is one window at a time', () => {
    assert.deepEqual(one.claim('a', 'w1'), { kind: 'owned' });
    assert.deepEqual(two.claim('a', 'w2'), { kind: 'heldBy', windowId: 'w1', pid: 101, since: 1_000_000 });
    assert.deepEqual(one.claim('a', 'w1'), { kind: 'owned' });
    assert.equal(two.owner('a')?.windowId, 'w1');
    one.release('a', 'w1');
    assert.equal(two.owner('a'), undefined);
    assert.deepEqual(two.claim('a', 'w2'), { kind: 'owned' });
  });

  it("changes when the owner's process has died or its window was closed", () => {
    one.claim('a', 'w1');
    dead = true;
    assert.deepEqual(two.claim('a', 'w2'), { kind: 'owned', tookOverFrom: 'w1' });
    dead = false;
    two.dispose();
    assert.deepEqual(one.claim('a', 'w1'), { kind: 'owned' });
  });

  it('is the window whose process runs, without any heartbeat', () => {
    one.claim('a', 'w1');
    timers.run();
    timers.run();
    assert.equal(timers.count, 0);
    wait(30 * MINUTE);
    assert.equal(two.claim('a', 'w2').kind, 'heldBy');
  });

  describe('if the start time of processes is unknown', () => {
    beforeEach(() => {
      one = open(101, { startOf: () => undefined }, { schedule: timers.schedule });
    });

    it('is the window with heartbeats until ten minutes without any', () => {
      one.claim('a', 'w1');
      for (let times = 0; times < 10; times++) {
        wait(4 * MINUTE);
        timers.run();
      }
      assert.equal(two.claim('a', 'w2').kind, 'heldBy');
      wait(11 * MINUTE);
      assert.deepEqual(two.claim('a', 'w2'), { kind: 'owned', tookOverFrom: 'w1' });
    });

    it('is the only writer, also after a takeover', () => {
      const lost: string[] = [];
      one.onDidLoseSession((key) => lost.push(key));
      one.claim('a', 'w1');
      one.append('a', timed(1, said('mine')));
      one.flush();
      wait(11 * MINUTE);
      two.claim('a', 'w2');
      assert.throws(() => one.queue.enqueue('a', queued('q1')), { code: 'session-held' });
      one.append('a', timed(2, said(' late')));
      one.flush();
      assert.deepEqual(lost, ['a']);
      two.append('a', timed(3, said(' and theirs')));
      assert.equal(textIn(two.events('a').events), 'mine and theirs');
      assert.deepEqual(one.heartbeat(), []);
    });

    it('learns of a takeover from its next heartbeat', () => {
      const lost: string[] = [];
      one.onDidLoseSession((key) => lost.push(key));
      one.claim('a', 'w1');
      wait(11 * MINUTE);
      two.claim('a', 'w2');
      assert.deepEqual(one.heartbeat(), ['a']);
      assert.deepEqual(lost, ['a']);
    });
  });

  it('stays the live window if the clock changes by hours', () => {
    one.claim('a', 'w1');
    now -= 24 * 60 * MINUTE;
    assert.equal(two.claim('a', 'w2').kind, 'heldBy');
    now += 400 * 24 * 60 * MINUTE;
    assert.equal(two.claim('a', 'w2').kind, 'heldBy');
  });

  it('is not a process of an earlier boot, even if its id is in use', () => {
    one.claim('a', 'w1');
    ticks = 20_000;
    now += 40_000;
    const after = open(7, { boot: 'second boot' });
    assert.deepEqual(after.claim('a', 'w3'), { kind: 'owned', tookOverFrom: 'w1' });
  });

  it('is not a process of an earlier boot if the system does not identify boots', () => {
    const unnamed = { boot: undefined, startOf: () => undefined };
    const before = open(103, unnamed);
    before.claim('a', 'w1');
    ticks = 20_000;
    const after = open(7, unnamed);
    assert.equal(after.claim('a', 'w3').kind, 'owned');
  });

  it('is not another process with the same id', () => {
    one.claim('a', 'w1');
    const later = open(102, { startOf: (of) => `later start of ${of}` });
    assert.deepEqual(later.claim('a', 'w2'), { kind: 'owned', tookOverFrom: 'w1' });
  });

  it('is not an earlier window of this process', () => {
    one.claim('a', 'w1');
    const again = open(101);
    assert.deepEqual(again.claim('a', 'w2'), { kind: 'owned', tookOverFrom: 'w1' });
  });

  it('on another machine counts as gone after a minute of silence', () => {
    one.claim('a', 'w1');
    const far = open(101, { host: 'there' });
    assert.equal(far.claim('a', 'w2').kind, 'heldBy');
    wait(61_000);
    assert.equal(far.claim('a', 'w2').kind, 'owned');
  });

  it('renews its lease every 15 seconds if another machine may use the file', () => {
    const shared = open(103, {}, { schedule: timers.schedule, isShared: () => true });
    shared.claim('a', 'w3');
    const far = open(101, { host: 'there' });
    for (let times = 0; times < 10; times++) {
      wait(15_000);
      timers.run();
    }
    assert.equal(far.claim('a', 'w2').kind, 'heldBy');
  });

  it('renews its lease if a folder that other machines use became available after the claim', () => {
    const late = join(folder, 'late');
    writeFileSync(late, '');
    const shared = open(103, {}, { folder: late, schedule: timers.schedule, isShared: () => true });
    shared.saveSession(newSession('a'));
    shared.claim('a', 'w3');
    rmSync(late);
    assert.equal(shared.retry(), true);
    const far = open(101, { host: 'there' }, { folder: late });
    for (let times = 0; times < 10; times++) {
      wait(15_000);
      timers.run();
    }
    assert.equal(far.claim('a', 'w2').kind, 'heldBy');
  });

  it('is the only window that can delete the session', () => {
    one.claim('a', 'w1');
    assert.throws(() => two.deleteSession('a'), { code: 'session-held' });
    one.deleteSession('a');
    assert.equal(two.session('a'), undefined);
  });
});
