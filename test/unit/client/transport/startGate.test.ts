// Tests the limit on simultaneous starts.
import { strict as assert } from 'node:assert';
import { setTimeout as delay } from 'node:timers/promises';
import { Deferred } from '../../../../src/base/deferred';
import { StartGate } from '../../../../src/client/transport/startGate';

describe('StartGate', () => {
  const { signal } = new AbortController();

  class Starts {
    readonly begun: string[] = [];
    readonly #ends = new Map<string, Deferred<void>>();
    readonly run = (gate: StartGate, name: string, stop = signal): Promise<void> =>
      gate.run(stop, () => {
        this.begun.push(name);
        const end = new Deferred<void>();
        this.#ends.set(name, end);
        return end.promise;
      });

    async end(name: string): Promise<void> {
      this.#ends.get(name)?.resolve();
      await delay(0);
    }
  }

  it('starts only as many agents at a time as there are slots, the newest first', async () => {
    const gate = new StartGate(2, 60_000);
    const starts = new Starts();
    const all = ['a', 'b', 'c', 'd'].map((name) => starts.run(gate, name));
    assert.deepEqual(starts.begun, ['a', 'b']);
    await starts.end('a');
    assert.deepEqual(starts.begun, ['a', 'b', 'd']);
    await starts.end('b');
    assert.deepEqual(starts.begun, ['a', 'b', 'd', 'c']);
    await starts.end('c');
    await starts.end('d');
    await Promise.all(all);
  });

  it('gives the slot of a slow start to the next', async () => {
    const gate = new StartGate(1, 1);
    const starts = new Starts();
    const all = ['a', 'b'].map((name) => starts.run(gate, name));
    await delay(20);
    assert.deepEqual(starts.begun, ['a', 'b']);
    await starts.end('a');
    await starts.end('b');
    await Promise.all(all);
  });

  it('gives the slot of a failed start to the next', async () => {
    const gate = new StartGate(1, 60_000);
    await assert.rejects(
      gate.run(signal, () => Promise.reject(new Error('no program'))),
      /no program/,
    );
    assert.equal(await gate.run(signal, async () => 'started'), 'started');
  });

  it('drops a waiting start that is stopped', async () => {
    const gate = new StartGate(1, 60_000);
    const starts = new Starts();
    const first = starts.run(gate, 'a');
    const stop = new AbortController();
    const stopped = starts.run(gate, 'b', stop.signal);
    const last = starts.run(gate, 'c');
    stop.abort(new Error('stopped'));
    await assert.rejects(stopped, /stopped/);
    await starts.end('a');
    await starts.end('c');
    await Promise.all([first, last]);
    assert.deepEqual(starts.begun, ['a', 'c']);
  });
});
