// Retries of uploads, and when the user is notified: once for each reason, in time.

import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ParleyError } from '../../../../src/base/errors';
import { silentLog } from '../../../../src/base/log';
import { earlierFiles, sendEarlierFiles, Uploads } from '../../../../src/client/sharing/uploads';
import { writeFramed } from '../../../../src/distributed/stores/framedFile';
import { removeScratch, scratchFolder } from '../../../support/scratch';

const never = new AbortController().signal;
const problem = (code: string): ParleyError => new ParleyError(code, 'told to fail');

describe('Uploads', () => {
  let uploads: Uploads;
  let notified: string[];
  let shown: (number | undefined)[];
  let answer: (name: string) => string | undefined;
  let sent: string[];

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    notified = [];
    shown = [];
    sent = [];
    answer = () => undefined;
    uploads = new Uploads({
      show: (state) => shown.push(state?.waiting),
      notify: ({ code }, waiting) => notified.push(`${code} ${waiting}`),
      log: silentLog,
    });
  });
  afterEach(() => {
    uploads.dispose();
    mock.timers.reset();
  });

  const wait = (name: string, count = 1, code?: string): void =>
    uploads.set(
      name,
      count,
      async () => {
        sent.push(name);
        const failure = answer(name);
        if (failure) throw problem(failure);
      },
      code === undefined ? undefined : problem(code),
    );
  const later = async (ms: number): Promise<void> => {
    mock.timers.tick(ms);
    for (let turn = 0; turn < 5; turn++) await nextTurn();
  };

  it('retries a server that was down, less and less often, until everything is sent', async () => {
    answer = () => 'store-down';
    wait('a', 1, 'store-down');
    for (const ms of [2000, 4000, 8000]) await later(ms);
    assert.equal(sent.length, 3);
    await later(8000);
    assert.equal(sent.length, 3, 'the next retry comes after 16 s');
    answer = () => undefined;
    await later(8000);
    assert.deepEqual([sent.length, uploads.waiting, shown.at(-1)], [4, 0, undefined]);
  });

  for (const code of ['store-denied', 'no-such-bucket', 'wrong-region', 'clock-skew'])
    it(`reports ${code} immediately and does not retry until the settings change`, async () => {
      answer = () => code;
      wait('a', 1, code);
      wait('a', 2, code);
      await later(3_600_000);
      assert.deepEqual([sent, notified, shown.at(-1)], [[], [`${code} 1`], 2]);
      await assert.rejects(uploads.send(never), { code });
      answer = () => undefined;
      uploads.restart();
      await later(0);
      assert.equal(uploads.waiting, 0);
    });

  it('sends objects after one that the server rejects', async () => {
    answer = (name) => (name === 'bad' ? 'store-error' : undefined);
    wait('bad');
    wait('good');
    await assert.rejects(uploads.send(never), { code: 'store-error' });
    assert.deepEqual([sent, uploads.waiting, notified], [['bad', 'good'], 1, ['store-error 1']]);
  });

  it('contacts a server that is down only once per round', async () => {
    answer = () => 'store-down';
    wait('a');
    wait('b');
    await assert.rejects(uploads.send(never), { code: 'store-down' });
    assert.deepEqual([sent, uploads.waiting], [['a'], 2]);
  });

  it('reports a server that is down for a minute, once', async () => {
    answer = () => 'store-down';
    wait('a', 3, 'store-down');
    await later(59_000);
    assert.deepEqual([notified, shown.at(-1)], [[], 3]);
    await later(1000);
    await later(600_000);
    assert.deepEqual(notified, ['store-down 3']);
  });

  it('reports a reason again after everything was sent, but does not repeat the current one', () => {
    uploads.report(problem('store-denied'));
    wait('a', 1, 'store-denied');
    wait('a', 1, 'clock-skew');
    wait('a', 0);
    wait('a', 1, 'store-denied');
    assert.deepEqual(notified, ['store-denied 0', 'clock-skew 1', 'store-denied 1']);
  });

  it('shows nothing after it is disposed', async () => {
    wait('a', 1, 'store-down');
    uploads.dispose();
    wait('b', 2, 'store-denied');
    await later(600_000);
    assert.deepEqual([shown.at(-1), notified, sent], [undefined, [], []]);
  });
});

describe('files left by earlier versions', () => {
  afterEach(removeScratch);

  it('are sent once, in order, and stay until the server accepts them', async () => {
    const root = await scratchFolder();
    const paths = ['7-1/000000000000.wait', '7-1/000000000001.wait', '8/000000000000.wait'];
    for (const [at, path] of paths.entries())
      await writeFramed(
        join(root, path),
        Buffer.from('{}'),
        { key: `${at}.json`, contentType: 'a/b' },
        { durable: false },
      );
    await mkdir(join(root, '9'));
    await writeFile(join(root, '9/000000000000.wait'), 'half');
    assert.equal((await earlierFiles(root)).length, 4);
    const taken: string[] = [];
    let isDown = true;
    const store = {
      put: async (key: string, bytes: Uint8Array, type: string) => {
        if (isDown && taken.length === 1) throw problem('store-down');
        taken.push(`${key} ${bytes.length} ${type}`);
        return { key, sha256: '', bytes: bytes.length };
      },
    };
    await assert.rejects(sendEarlierFiles(root, store, silentLog, never), { code: 'store-down' });
    isDown = false;
    await sendEarlierFiles(root, store, silentLog, never);
    assert.deepEqual(taken, ['0.json 2 a/b', '1.json 2 a/b', '2.json 2 a/b']);
    assert.deepEqual(await readdir(join(root, '9')), ['000000000000.wait'], 'damaged files stay');
    assert.equal((await earlierFiles(join(root, 'none'))).length, 0);
  });
});
