// Two windows and one session.
import { strict as assert } from 'node:assert';
import { ParleyError } from '../../../src/base/errors';
import type { Journal } from '../../../src/store/journal';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { HeldTimers, newSession, openJournal, queued, said, textIn, timed } from '../../support/store/journals';

const MINUTE = 60_000;

describe('the owner of a session', () => {
  let folder: string;
  let now: number;
  let dead: boolean;
  let timers: HeldTimers;
  let one: Journal;
  let two: Journal;

  beforeEach(async () => {
    folder = await scratchFolder();
    now = 1_000_000;
    dead = false;
    timers = new HeldTimers();
    const common = { now: () => now, isAlive: () => !dead };
    one = openJournal(folder, { ...common, schedule: timers.schedule });
    one.saveSession(newSession('a'));
    two = openJournal(folder, common);
  });

  afterEach(async () => {
    one.dispose();
    two.dispose();
    await removeScratch();
  });

  it('is two windows at a time', () => {
    assert.deepEqual(one.claim('a', 'w1'), { kind: 'owned' });
    assert.deepEqual(two.claim('a', 'w2'), { kind: 'heldBy', windowId: 'w1', pid: process.pid, since: 1_000_000 });
    assert.deepEqual(one.claim('a', 'w1'), { kind: 'owned' });
    assert.equal(two.owner('a')?.windowId, 'w1');
    one.release('a', 'w1');
    assert.equal(two.owner('a'), undefined);
    assert.deepEqual(two.claim('a', 'w2'), { kind: 'owned' });
  });

  it('stays a process that died, or a window that was closed', () => {
    one.claim('a', 'w1');
    dead = true;
    assert.deepEqual(two.claim('a', 'w2'), { kind: 'owned', tookOverFrom: 'w1' });
    dead = false;
    two.dispose();
    assert.deepEqual(one.claim('a', 'w1'), { kind: 'owned' });
  });

  it('loses the session while it lives and says so, or keeps it for ever in silence', () => {
    one.claim('a', 'w1');
    for (let minute = 0; minute < 30; minute++) {
      now += MINUTE;
      timers.run();
    }
    assert.equal(two.claim('a', 'w2').kind, 'heldBy');
    now += 11 * MINUTE;
    assert.deepEqual(two.claim('a', 'w2'), { kind: 'owned', tookOverFrom: 'w1' });
  });

  it('keeps a session because the clock was set back', () => {
    one.claim('a', 'w1');
    now -= 24 * 60 * MINUTE;
    assert.equal(two.claim('a', 'w2').kind, 'owned');
  });

  it('writes into a session that another window has taken over', () => {
    const lost: string[] = [];
    one.onDidLoseSession((key) => lost.push(key));
    one.claim('a', 'w1');
    one.append('a', timed(1, said('mine')));
    one.flush();
    now += 11 * MINUTE;
    two.claim('a', 'w2');
    assert.throws(
      () => one.queue.enqueue('a', queued('q1')),
      (error) => error instanceof ParleyError && error.code === 'session-held',
    );
    one.append('a', timed(2, said(' late')));
    one.flush();
    assert.deepEqual(lost, ['a']);
    two.append('a', timed(3, said(' and theirs')));
    assert.equal(textIn(two.events('a').events), 'mine and theirs');
    assert.deepEqual(one.heartbeat(), []);
  });

  it('learns too late that the session is gone', () => {
    const lost: string[] = [];
    one.onDidLoseSession((key) => lost.push(key));
    one.claim('a', 'w1');
    now += 11 * MINUTE;
    two.claim('a', 'w2');
    assert.deepEqual(one.heartbeat(), ['a']);
    assert.deepEqual(lost, ['a']);
  });

  it('sees its session deleted by another window', () => {
    one.claim('a', 'w1');
    assert.throws(
      () => two.deleteSession('a'),
      (error) => error instanceof ParleyError && error.code === 'session-held',
    );
    one.deleteSession('a');
    assert.equal(two.session('a'), undefined);
  });
});
