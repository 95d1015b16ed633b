// What windows that are gone left to be written to a storage server.
import { strict as assert } from 'node:assert';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../../../../src/base/errors';
import { silentLog } from '../../../../src/base/log';
import { openQueue } from '../../../../src/client/sharing/queueFolders';
import type { ResourceStore } from '../../../../src/distributed/model/resources';
import type { WriteQueue } from '../../../../src/distributed/stores/writeQueue';
import { removeScratch, scratchFolder } from '../../../support/scratch';

const never = new AbortController().signal;

describe('the folders of what waits for a storage server', () => {
  let root: string;
  let answer: 'down' | 'refuses' | 'takes';
  let taken: string[];
  const store = {
    id: 'bucket',
    isLocal: false,
    async put(key: string, bytes: Uint8Array) {
      if (answer === 'down') throw new ParleyError('store-down', 'not now');
      if (answer === 'refuses') throw new ParleyError('store-error', '400');
      taken.push(key);
      return { key, sha256: '', bytes: bytes.length };
    },
  } as unknown as ResourceStore;
  const folders = (): string[] => readdirSync(root).sort();
  const open = (pid: number, starts: Readonly<Record<number, string>>) =>
    openQueue(store, {
      root,
      pid,
      startOf: (of) => starts[of],
      isAlive: (of) => starts[of] !== undefined,
      log: silentLog,
    });
  const put = (queue: WriteQueue, key: string) => queue.put(key, Buffer.from('{}'), 'application/json', never);
  const sent = async (queue: WriteQueue): Promise<void> => {
    while (queue.state.waiting > 0) await new Promise<void>((resolve) => queue.onDidChange(() => resolve()));
  };

  beforeEach(async () => {
    root = join(await scratchFolder(), 'queue');
    answer = 'down';
    taken = [];
  });
  afterEach(removeScratch);

  it('keep what the server refuses, for the next window', async () => {
    const first = await open(7, { 7: '1' });
    await put(first, 'a/1.json');
    await first.close();
    assert.deepEqual(folders(), ['7-1']);

    answer = 'refuses';
    const second = await open(8, { 8: '1' });
    assert.deepEqual(folders(), ['8-1']);
    while (second.state.problem === undefined)
      await new Promise<void>((resolve) => second.onDidChange(() => resolve()));
    await second.close();

    answer = 'takes';
    const third = await open(9, { 9: '1' });
    await sent(third);
    assert.deepEqual([taken, folders()], [['a/1.json'], ['9-1']]);
    await third.close();
  });

  it('are one queue for the window that takes them over: their order, what can be read, and the count', async () => {
    const first = await open(7, { 7: '1' });
    for (const key of ['a/1.json', 'a/2.json']) await put(first, key);
    await first.close();
    const own = await open(8, { 7: '1', 8: '1' });
    await put(own, 'b/1.json');
    await own.close();

    const again = await open(8, { 8: '1' });
    await put(again, 'b/2.json');
    assert.equal(again.state.waiting, 4);
    assert.equal(Buffer.from(await again.get('a/2.json', never)).toString(), '{}');
    answer = 'takes';
    await again.flush(never);
    assert.deepEqual(taken, ['b/1.json', 'a/1.json', 'a/2.json', 'b/2.json']);
    await again.close();
  });

  it('are taken over from a process whose number another one has now', async () => {
    const first = await open(7, { 7: '1' });
    await put(first, 'a/1.json');
    await first.close();
    answer = 'takes';
    const second = await open(8, { 7: '2', 8: '1' });
    await sent(second);
    assert.deepEqual(taken, ['a/1.json']);
    await second.close();
  });

  it('are left to a window that lives', async () => {
    const first = await open(7, { 7: '1' });
    await put(first, 'a/1.json');
    await first.close();
    answer = 'takes';
    const second = await open(8, { 7: '1', 8: '1' });
    assert.deepEqual([taken, second.state, folders()], [[], { waiting: 0 }, ['7-1']]);
    await second.close();
  });
});
