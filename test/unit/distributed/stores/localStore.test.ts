// Messages as files: complete or detectably damaged, readable only with a valid link.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ResourceCache } from '../../../../src/distributed/fetch/resourceCache';
import { mintId } from '../../../../src/distributed/model/model';
import { sha256Of } from '../../../../src/distributed/model/resources';
import { hashOf } from '../../../../src/distributed/model/resourceUrl';
import { diskError } from '../../../../src/distributed/stores/framedFile';
import { LocalStore, type LocalStoreOptions } from '../../../../src/distributed/stores/localStore';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { messageText } from '../loopback';

const never = new AbortController().signal;
const secret = randomBytes(32);

describe('LocalStore', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await scratchFolder();
  });

  afterEach(removeScratch);

  function open(options: Partial<LocalStoreOptions> = {}): LocalStore {
    return new LocalStore({ folder, secret, baseUrl: () => 'http://127.0.0.1:4000', ...options });
  }

  const newKey = (session = 'session-123') => `sessions/${session}/00000000-${mintId()}.json`;

  async function ask(store: LocalStore, url: string) {
    const { pathname, searchParams } = new URL(url);
    const id = pathname.slice('/resources/'.length);
    const { bytes, contentType } = await store.serve(id, searchParams.get('exp'), searchParams.get('sig'), never);
    return `${contentType} ${Buffer.from(bytes)}`;
  }

  it('stores objects and serves them to another server', async () => {
    const key = newKey();
    const stored = await open().put(key, Buffer.from('{"a":1}'), 'application/json', never);
    const store = open({ baseUrl: () => 'http://127.0.0.1:5000' });
    assert.equal(Buffer.from(await store.get(key, never)).toString(), '{"a":1}');
    const url = await store.urlFor(key, { expiresIn: 60, sha256: stored.sha256 });
    assert.equal(hashOf(url), stored.sha256);
    assert.equal(await ask(store, url), 'application/json {"a":1}');
    assert.equal(await ask(open(), url), 'application/json {"a":1}');
    assert.equal(await open().keyOf(url), key);
    assert.deepEqual(await store.list('sessions/session-123/', never), [key]);
    await store.remove(key, never);
    await assert.rejects(store.get(key, never), { code: 'not-found' });
    await assert.rejects(ask(store, url), { code: 'not-found' });
  });

  it('refuses requests without a link, with an expired one, or with one for something else', async () => {
    const key = newKey();
    const store = open({ now: () => 1_000_000_000_000 });
    await store.put(key, Buffer.from('{}'), 'application/json', never);
    const url = await store.urlFor(key, { expiresIn: 60 });
    const id = new URL(url).pathname.slice('/resources/'.length);
    const [exp, sig] = [new URL(url).searchParams.get('exp'), new URL(url).searchParams.get('sig') ?? ''];
    const later = Number(exp) + 1000;
    const tries: readonly (readonly [string, string | null, string | null])[] = [
      [id, null, null],
      [id, exp, null],
      [id, exp, ''],
      [id, exp, `${sig.slice(0, -1)}${sig.endsWith('A') ? 'B' : 'A'}`],
      [id, `${later}`, sig],
      [id, `${exp} `, sig],
      [id, `0${exp}`, sig],
      [id, '1e12', sig],
      [mintId(), exp, sig],
      ['../../secret', exp, sig],
    ];
    for (const [one, end, signature] of tries) {
      await assert.rejects(
        store.serve(one, end, signature, never),
        { code: 'forbidden' },
        `${one} ${end} ${signature}`,
      );
    }
    const after = open({ now: () => 1_000_000_061_000 });
    await assert.rejects(after.serve(id, exp, sig, never), { code: 'forbidden', message: /expired/ });
    const other = open({ secret: randomBytes(32) });
    await assert.rejects(other.serve(id, exp, sig, never), { code: 'forbidden' });
    assert.equal(await other.keyOf(url), undefined);
    assert.throws(() => open({ secret: randomBytes(8) }), { code: 'bad-secret' });
  });

  it('reads and writes only in its folder', async () => {
    const store = open();
    const id = mintId();
    for (const key of [
      `../${id}.json`,
      `a/../../${id}.json`,
      `/etc/${id}`,
      `a\\..\\${id}`,
      `a:b/${id}.json`,
      `a/./${id}`,
      `a//${id}`,
      `~/${id}`,
    ]) {
      await assert.rejects(store.put(key, Buffer.from('x'), 'text/plain', never), { code: 'bad-key' }, key);
      await assert.rejects(store.get(key, never), { code: 'bad-key' }, key);
    }
    await assert.rejects(store.put('no-id.json', Buffer.from('x'), 'text/plain', never), { code: 'bad-key' });
    assert.deepEqual(await readdir(folder), []);
  });

  it('detects truncated files', async () => {
    const store = open();
    const [torn, fine] = [newKey(), newKey()];
    for (const key of [torn, fine]) await store.put(key, Buffer.from(messageText(key)), 'application/json', never);
    const path = join(folder, torn);
    const whole = await readFile(path);
    for (const damaged of [whole.subarray(0, -1), whole.subarray(0, 20), Buffer.alloc(0), Buffer.alloc(whole.length)]) {
      await writeFile(path, damaged);
      await assert.rejects(store.get(torn, never), { code: 'torn' });
    }
    assert.equal(Buffer.from(await store.get(fine, never)).toString(), messageText(fine));
  });

  it('hides files from other users of the machine, and leaves no partial file', async () => {
    const key = newKey();
    await open().put(key, Buffer.from('{}'), 'application/json', never);
    assert.deepEqual(await readdir(join(folder, 'sessions/session-123')), [key.split('/').at(-1)]);
    if (process.platform !== 'win32') assert.equal((await stat(join(folder, key))).mode & 0o077, 0);
  });

  it('reports when the disk is full or the folder is not writable', async () => {
    const full = diskError(Object.assign(new Error('write'), { code: 'ENOSPC' }));
    assert.equal(full.code, 'disk-full');
    assert.match(`${full.message} ${full.hint}`, /disk is full.*chat itself continues/);
    await writeFile(join(folder, 'sessions'), 'a file where a folder should be');
    await assert.rejects(open().put(newKey(), Buffer.from('{}'), 'application/json', never), { code: 'store-error' });
  });

  it('returns no links while the server is stopped', async () => {
    const store = open({ baseUrl: () => undefined });
    await assert.rejects(store.urlFor(newKey(), { expiresIn: 60 }), { code: 'not-served', hint: /server/ });
    const key = newKey();
    const url = await store.urlFor(key, { expiresIn: 60, readers: 'here' });
    await store.put(key, Buffer.from('{}'), 'application/json', never);
    assert.equal(await store.keyOf(url), key, 'this window reads it without a server');
  });
});

describe('ResourceCache', () => {
  afterEach(removeScratch);

  it('is bounded, and drops the least recently used first', async () => {
    const folder = await scratchFolder();
    const cache = new ResourceCache({ folder, maxBytes: 40_000, maxFiles: 100 });
    for (let index = 0; index < 60; index++) {
      cache.put(`name-${index}`, Buffer.alloc(2000, index));
      await cache.settled();
    }
    let bytes = 0;
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
    }
    assert.ok(bytes <= 44_000, `${bytes} bytes`);
    assert.equal((await cache.get('name-59'))?.bytes[0], 59);
    assert.equal(await cache.get('name-0'), undefined);
  });

  it('writes files after the session was fetched, without another request', async () => {
    const folder = await scratchFolder();
    const cache = new ResourceCache({ folder, restMs: 2 ** 30 });
    cache.put('name', Buffer.from('old'));
    cache.put('name', Buffer.from('new'), { etag: '"1"' });
    assert.deepEqual(await readdir(folder), []);
    const waiting = await cache.get('name');
    await cache.settled();
    const written = await new ResourceCache({ folder }).get('name');
    for (const found of [waiting, written]) {
      assert.equal(String(found?.bytes), 'new');
      assert.equal(found?.sha256, sha256Of(Buffer.from('new')));
      assert.deepEqual(found?.meta, { etag: '"1"' });
    }
  });

  it('keeps a long session in memory until it is quiet', async () => {
    const folder = await scratchFolder();
    const cache = new ResourceCache({ folder, restMs: 2 ** 30 });
    for (let index = 0; index < 3; index++) cache.put(`name-${index}`, Buffer.alloc(3 * 1024 * 1024, index));
    const other = new ResourceCache({ folder });
    while ((await other.get('name-0')) === undefined) await new Promise(setImmediate);
    await cache.settled();
  });

  it('keeps contents that are added while it writes', async () => {
    const folder = await scratchFolder();
    const cache = new ResourceCache({ folder, restMs: 2 ** 30 });
    cache.put('a', Buffer.from('1'));
    cache.put('b', Buffer.from('1'));
    const writing = cache.settled();
    await Promise.resolve();
    for (const name of ['a', 'b']) cache.put(name, Buffer.from('2'));
    await writing;
    for (const name of ['a', 'b']) assert.equal(String((await cache.get(name))?.bytes), '2');
    await cache.settled();
    const other = new ResourceCache({ folder });
    for (const name of ['a', 'b']) assert.equal(String((await other.get(name))?.bytes), '2');
  });

  it('opens sessions even if it cannot write', async () => {
    const folder = await scratchFolder();
    await mkdir(join(folder, 'x'));
    await writeFile(join(folder, 'file'), '');
    const cache = new ResourceCache({ folder: join(folder, 'file') });
    cache.put('name', Buffer.from('x'));
    await cache.settled();
    assert.equal(await cache.get('name'), undefined);
  });
});
