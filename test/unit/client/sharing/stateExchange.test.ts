// What an agent stores in a row, on its way to whoever keeps it.
import assert from 'node:assert/strict';
import { Deferred } from '../../../../src/base/deferred';
import { silentLog } from '../../../../src/base/log';
import { StateExchange } from '../../../../src/client/sharing/stateExchange';

const never = new AbortController().signal;

describe('StateExchange', () => {
  it('keeps only the last of several states that wait', async () => {
    const first = new Deferred<void>();
    const kept: string[] = [];
    const exchange = new StateExchange(silentLog, {
      hasState: undefined,
      read: async () => undefined,
      store: async (content, previous) => {
        kept.push(`${previous}: ${Buffer.from(content)}`);
        if (kept.length === 1) await first.promise;
        return `http://x.test/${kept.length}`;
      },
    });
    await exchange.preparation()?.(never);
    const store = (text: string, previous: string | null = null): void =>
      exchange.store({ previous, bytes: Buffer.from(text) });
    store('one');
    await Promise.resolve();
    for (const text of ['two', 'three', 'four']) store(text);
    first.resolve();
    await exchange.settled();
    assert.deepEqual(kept, ['undefined: one', 'http://x.test/1: four']);
    assert.equal(exchange.offer()?.conflict, undefined);
  });

  it('reports a conflict if the latest state continues from another one, even while an earlier one is written', async () => {
    const exchange = new StateExchange(silentLog, {
      hasState: undefined,
      read: async () => undefined,
      store: async () => 'http://x.test/1',
    });
    await exchange.preparation()?.(never);
    exchange.store({ previous: null, bytes: Buffer.from('one') });
    exchange.store({ previous: 'http://x.test/other', bytes: Buffer.from('two') });
    await exchange.settled();
    assert.equal(exchange.offer()?.conflict, true);
  });
});
