// When the user hears that messages wait for a storage server: once for each reason, in time, and no more when they are there.
import assert from 'node:assert/strict';
import { ParleyError } from '../../../../src/base/errors';
import { Emitter } from '../../../../src/base/event';
import { WaitingWatch } from '../../../../src/client/sharing/waitingWatch';
import type { QueueState } from '../../../../src/distributed/stores/writeQueue';

describe('a look at what waits for a storage server', () => {
  let state: QueueState;
  let change: Emitter<void>;
  let now: number;
  let timers: { readonly at: number; readonly run: () => void }[];
  let told: string[];
  let shown: (number | undefined)[];
  let watch: WaitingWatch;

  beforeEach(() => {
    state = { waiting: 0 };
    change = new Emitter();
    now = 1_000_000;
    timers = [];
    told = [];
    shown = [];
    watch = new WaitingWatch({
      queue: {
        get state() {
          return state;
        },
        onDidChange: change.event,
      },
      schedule: (run, ms) => {
        const timer = { at: now + ms, run };
        timers.push(timer);
        const dispose = (): void => {
          timers = timers.filter((one) => one !== timer);
        };
        return { dispose };
      },
      now: () => now,
      show: (next) => shown.push(next?.waiting),
      tell: (problem, waiting) => told.push(`${problem.code} ${waiting}`),
    });
  });

  const is = (next: QueueState): void => {
    state = next;
    change.fire();
  };
  const later = (ms: number): void => {
    now += ms;
    for (const timer of timers.filter(({ at }) => at <= now)) {
      timers = timers.filter((one) => one !== timer);
      timer.run();
    }
  };
  const problem = (code: string): ParleyError => new ParleyError(code, 'told to fail');

  it('says nothing of a message that is on its way', () => {
    is({ waiting: 1, since: now });
    is({ waiting: 0 });
    assert.deepEqual([told, shown.filter((count) => count !== undefined), timers], [[], [], []]);
  });

  it('warns once of a server that refuses, and counts what waits then', () => {
    is({ waiting: 1, since: now, problem: problem('store-denied') });
    is({ waiting: 2, since: now, problem: problem('store-denied') });
    later(3_600_000);
    assert.deepEqual(told, ['store-denied 1']);
    assert.equal(shown.at(-1), 2);
  });

  it('warns again of another reason, and of the same one after all was sent', () => {
    const since = now;
    is({ waiting: 1, since, problem: problem('store-denied') });
    is({ waiting: 1, since, problem: problem('clock-skew') });
    is({ waiting: 0 });
    assert.equal(shown.at(-1), undefined);
    is({ waiting: 1, since, problem: problem('store-denied') });
    assert.deepEqual(told, ['store-denied 1', 'clock-skew 1', 'store-denied 1']);
  });

  it('counts what waits for a server that is down, and warns when that takes a minute', () => {
    is({ waiting: 3, since: now, problem: problem('store-down') });
    assert.deepEqual([told, shown.at(-1)], [[], 3]);
    later(59_000);
    assert.deepEqual(told, []);
    later(1_000);
    assert.deepEqual(told, ['store-down 3']);
  });

  it('says the same of a server that does not answer at all', () => {
    is({ waiting: 1, since: now });
    assert.equal(shown.at(-1), undefined);
    later(2_000);
    assert.equal(shown.at(-1), 1);
    later(58_000);
    assert.deepEqual(told, ['store-down 1']);
  });

  it('does not repeat what was found before anything waited', () => {
    watch.report(problem('store-denied'));
    is({ waiting: 1, since: now, problem: problem('store-denied') });
    assert.deepEqual(told, ['store-denied 0']);
  });

  it('takes back what it showed when it ends, and looks no more', () => {
    is({ waiting: 1, since: now, problem: problem('store-down') });
    watch.dispose();
    is({ waiting: 2, since: now, problem: problem('store-denied') });
    assert.deepEqual([shown.at(-1), told, timers], [undefined, [], []]);
  });
});
