// What windows that are gone left to be written to a resource server.
import { strict as assert } from 'node:assert';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../../../src/base/errors';
import { silentLog } from '../../../src/base/log';
import { openQueue } from '../../../src/client/queueFolders';
import type { ResourceStore } from '../../../src/distributed/resources';
import { removeScratch, scratchFolder } from '../../support/scratch';

const never = new AbortController().signal;

describe('the folders of what waits for a resource server', () => {
  let root: string;
  let answer: 'down' | 'refuses' | 'takes';
  let taken: string[];
  let tried: number;
  let onTry: (() => void) | undefined;
  const store = {
    id: 'bucket',
    isLocal: false,
    async put(key: string, bytes: Uint8Array) {
      tried++;
      queueMicrotask(() => onTry?.());
      if (answer === 'down') throw new ParleyError('store-down', 'not now');
      if (answer === 'refuses') throw new ParleyError('store-error', '400');
      taken.push(key);
      return { key, sha256: '', bytes: bytes.length, state: 'stored' };
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
  /** When the folder is as it should be; a folder has no events. */
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  beforeEach(async () => {
    root = join(await scratchFolder(), 'queue');
    answer = 'down';
    taken = [];
    tried = 0;
  });
  afterEach(removeScratch);

  it('stay while the server refuses what is in them, and are sent when it no longer does', async () => {
    const first = await open(7, { 7: '1' });
    await first.queue.put('a/1.json', Buffer.from('{}'), 'application/json', never);
    first.disposable.dispose();
    assert.deepEqual(folders(), ['7-1']);

    answer = 'refuses';
    tried = 0;
    const second = await open(8, { 8: '1' });
    await new Promise<void>((resolve) => {
      onTry = resolve;
    });
    await new Promise((resolve) => setImmediate(resolve));
    second.disposable.dispose();
    assert.ok(folders().includes('7-1'), 'nothing of it is anywhere else');

    answer = 'takes';
    const third = await open(9, { 9: '1' });
    await until(() => taken.length === 1 && !folders().includes('7-1'));
    third.disposable.dispose();
    assert.deepEqual(taken, ['a/1.json']);
  });

  it('are sent where another process has the number of the one that left them', async () => {
    const first = await open(7, { 7: '1' });
    await first.queue.put('a/1.json', Buffer.from('{}'), 'application/json', never);
    first.disposable.dispose();
    answer = 'takes';
    const second = await open(8, { 7: '2', 8: '1' });
    await until(() => taken.length === 1);
    second.disposable.dispose();
  });

  it('are left to a window that lives', async () => {
    const first = await open(7, { 7: '1' });
    await first.queue.put('a/1.json', Buffer.from('{}'), 'application/json', never);
    first.disposable.dispose();
    tried = 0;
    answer = 'takes';
    const second = await open(8, { 7: '1', 8: '1' });
    assert.equal(tried, 0);
    assert.deepEqual(folders(), ['7-1']);
    second.disposable.dispose();
  });
});
