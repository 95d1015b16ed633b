// Names of secrets in VS Code's store, read once and again after changes.
import { strict as assert } from 'node:assert';
import type { ExtensionContext, SecretStorageChangeEvent } from 'vscode';
import { Emitter } from '../../../../src/base/event';
import { rememberingSecretNames } from '../../../../src/workbench/activation/secretNames';

describe('secret names', () => {
  let stored: Map<string, string>;
  let reads: number;
  let fails: boolean;
  let changed: Emitter<SecretStorageChangeEvent>;
  let secrets: ExtensionContext['secrets'];

  beforeEach(() => {
    stored = new Map([['one', '1']]);
    reads = 0;
    fails = false;
    changed = new Emitter();
    const store = {
      onDidChange: changed.event,
      keys: async () => {
        reads++;
        if (fails) throw new Error('locked');
        return [...stored.keys()];
      },
      get: async (key: string) => stored.get(key),
      store: async (key: string, value: string) => void stored.set(key, value),
      delete: async (key: string) => void stored.delete(key),
    };
    const context = { secrets: store, subscriptions: [] } as unknown as ExtensionContext;
    ({ secrets } = rememberingSecretNames(context));
  });

  it('are read once, however often they are requested', async () => {
    assert.deepEqual(await Promise.all([secrets.keys(), secrets.keys()]), [['one'], ['one']]);
    (await secrets.keys()).push('not stored');
    assert.deepEqual(await secrets.keys(), ['one']);
    assert.equal(reads, 1);
  });

  it('are read again after this window has stored or deleted a secret', async () => {
    await secrets.keys();
    await secrets.store('two', '2');
    assert.deepEqual(await secrets.keys(), ['one', 'two']);
    await secrets.delete('one');
    assert.deepEqual(await secrets.keys(), ['two']);
    assert.equal(await secrets.get('two'), '2');
  });

  it('are read again after another window has changed a secret', async () => {
    await secrets.keys();
    stored.set('two', '2');
    changed.fire({ key: 'two' });
    assert.deepEqual(await secrets.keys(), ['one', 'two']);
  });

  it('are never those of a store that changed while being read', async () => {
    const before = secrets.keys();
    await secrets.store('two', '2');
    await before;
    assert.deepEqual(await secrets.keys(), ['one', 'two']);
  });

  it('are read again after an error', async () => {
    fails = true;
    await assert.rejects(async () => secrets.keys(), /locked/);
    fails = false;
    assert.deepEqual(await secrets.keys(), ['one']);
  });
});
