// What a deleted session leaves: nothing that only it had, and everything from which another
// session continues.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Log, silentLog } from '../../../../src/base/log';
import { writeRecord } from '../../../../src/client/http/communicationRecord';
import { FileStore } from '../../../../src/client/sharing/fileStore';
import {
  copiesOf,
  neverShared,
  removeCopies,
  removeRemains,
  unsentSessions,
} from '../../../../src/client/sharing/sessionRemains';
import { mintId, type SessionDescriptor } from '../../../../src/distributed/model/model';
import { type ResourceStore, sha256Of } from '../../../../src/distributed/model/resources';
import { LocalStore } from '../../../../src/distributed/stores/localStore';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { WrittenLog } from '../../../support/sessions/messageLogs';

const signal = new AbortController().signal;

describe('a session that was deleted', () => {
  let folder: string;
  let store: LocalStore;
  let records: FileStore;
  let http: FileStore;

  beforeEach(async () => {
    folder = await scratchFolder();
    store = new LocalStore({
      folder: join(folder, 'resources'),
      secret: randomBytes(32),
      baseUrl: () => 'http://127.0.0.1:4000',
    });
    records = new FileStore(join(folder, 'session-messages'));
    http = new FileStore(join(folder, 'http-sessions'));
  });
  afterEach(removeScratch);

  const remove = (keys: readonly string[], log: Log = silentLog) =>
    removeRemains(keys, { fileStores: [records, http], store, log }, signal);
  const logOf = (key: string, stores: readonly [ResourceStore, ...ResourceStore[]] = [store]): WrittenLog =>
    new WrittenLog({ key, stores: async () => stores, fileStore: records });
  const files = async (name: string): Promise<number> =>
    (await readdir(join(folder, name), { recursive: true, withFileTypes: true }).catch(() => [])).filter((one) =>
      one.isFile(),
    ).length;

  it('leaves nothing on the disk', async () => {
    const [gone, kept] = [mintId(), mintId()];
    await logOf(gone).say('one', 'two');
    const other = logOf(kept);
    await other.say('three');
    await http.write(gone, 'x');
    assert.deepEqual(await remove([gone]), { removed: 2, left: [] });
    assert.deepEqual(
      [await files('resources'), await files('session-messages'), await files('http-sessions')],
      [1, 1, 0],
    );
    const [left] = other.record?.entries ?? [];
    assert.ok(left?.kind === 'own' && (await store.get(left.key, signal)).length > 0);
    assert.deepEqual(await remove([gone]), { removed: 0, left: [] }, 'a second time there is nothing');
  });

  it('is found among messages that were written but never shared', async () => {
    const [own, shared, opened] = [mintId(), mintId(), mintId()];
    const before = logOf(own);
    await before.say('one');
    await records.write(own, JSON.stringify({ record: before.record, beyond: 0 }));
    await logOf(shared).say('two');
    const foreign = logOf(opened);
    foreign.begin({ id: mintId(), history: ['https://elsewhere.example/1'] });
    await foreign.settled();
    assert.deepEqual(await neverShared(records, store.id), [own]);
    assert.deepEqual(await neverShared(records, 'another store'), []);
  });

  it('leaves the messages with which a continued session begins', async () => {
    const [first, second] = [mintId(), mintId()];
    const old = logOf(first);
    await old.say('one', 'two');
    const next = logOf(second);
    next.begin(await old.descriptor());
    await next.settled();
    await old.say('only here');
    assert.deepEqual(await remove([first]), { removed: 1, left: [first] });
    for (const url of (await next.descriptor()).history) assert.ok(await store.keyOf(url));
    assert.deepEqual(await remove([second]), { removed: 0, left: [] }, 'it wrote nothing itself');
  });

  it('leaves messages to which a session with an HTTP agent links', async () => {
    const [key, far] = [mintId(), mintId()];
    const log = logOf(key);
    await log.say('one', 'two');
    const { history, id }: SessionDescriptor = await log.descriptor();
    const branch = { id, history: history.slice(0, 1) };
    await http.write(far, writeRecord({ descriptor: { id, history: [] }, visited: [], branches: [branch] }));
    assert.deepEqual(await remove([key]), { removed: 1, left: [key] });
    assert.deepEqual(await remove([key, far]), { removed: 1, left: [] }, 'with the last that needs it');
    assert.equal(await files('resources'), 0);
  });

  it('is removed with the messages that no server recorded', async () => {
    const key = mintId();
    await store.put(`http/${key}/${mintId()}.json`, Buffer.from('{}'), 'application/json', signal);
    await store.put(`http/${mintId()}/${mintId()}.json`, Buffer.from('{}'), 'application/json', signal);
    assert.deepEqual(await remove([key]), { removed: 1, left: [] });
    assert.equal(await files('resources'), 1);
  });

  it('is removed even if the file of another is damaged or inaccessible', async () => {
    const key = mintId();
    await logOf(key).say('one', 'two');
    await records.write('other', 'x');
    await writeFile(join(folder, 'session-messages', `${'f'.repeat(40)}.json`), 'torn');
    const warnings: string[] = [];
    let isFirst = true;
    const refusing = {
      list: (prefix: string, stop: AbortSignal) => store.list(prefix, stop),
      remove: async (name: string, stop: AbortSignal) => {
        if (isFirst) {
          isFirst = false;
          throw new Error('busy');
        }
        await store.remove(name, stop);
      },
    };
    const log = { ...silentLog, warn: (text: string) => warnings.push(text) };
    const result = await removeRemains([key], { fileStores: [records, http], store: refusing, log }, signal);
    assert.deepEqual(result, { removed: 1, left: [key] });
    assert.match(warnings.join(), /busy/);
  });

  describe('with copies on other machines', () => {
    const objects = new Map<string, Uint8Array>();
    const bucket: ResourceStore = {
      id: 's3:https://s3.test/parley/',
      isLocal: false,
      put: async (key, bytes) => {
        objects.set(key, bytes);
        return { key, sha256: sha256Of(bytes), bytes: bytes.length, state: 'stored' };
      },
      get: async (key) => objects.get(key) ?? assert.fail(),
      urlFor: async (key) => `https://s3.test/parley/${key}?X-Amz-Signature=x`,
      keyOf: async (url) => /s3\.test\/parley\/([^?]+)/.exec(url)?.[1],
      remove: async (key) => void objects.delete(key),
    };
    beforeEach(() => objects.clear());

    it('lists those that only it wrote, and loses them only on request', async () => {
      const [gone, kept] = [mintId(), mintId()];
      await logOf(gone, [bucket, store]).say('one', 'two');
      await logOf(kept, [bucket, store]).say('three');
      const copy = `http/${gone}/${mintId()}.json`;
      await bucket.put(copy, Buffer.from('{}'), 'application/json', signal);
      const descriptor = { id: mintId(), history: [] };
      const copies = [await bucket.urlFor(copy, { expiresIn: 1 }), 'https://elsewhere.test/1'];
      await http.write(gone, writeRecord({ descriptor, visited: [], branches: [], copies }));
      const places = { messages: records, http, stores: [bucket, store] };
      const found = await copiesOf(gone, places);
      assert.equal(found.length, 3);
      await remove([gone]);
      assert.equal(objects.size, 4);
      const fileStores = [records, http];
      assert.equal(await removeCopies(found, { fileStores, log: silentLog }, signal), 0);
      assert.equal(objects.size, 1);
      assert.deepEqual(await copiesOf(gone, places), []);
    });

    it('is listed while its objects wait to be uploaded', async () => {
      const [waiting, sent] = [mintId(), mintId()];
      const down = { ...bucket, put: () => Promise.reject(new Error('down')) };
      await logOf(waiting, [down, store]).say('one', 'two');
      await logOf(sent, [bucket, store]).say('three');
      const found = [];
      for await (const one of unsentSessions(records)) found.push(one);
      assert.deepEqual(found, [{ key: waiting, waiting: 2 }]);
    });

    it('keeps messages that another session continues from, and counts those that cannot be removed', async () => {
      const [gone, other] = [mintId(), mintId()];
      const keys = [1, 2, 3].map(() => `sessions/s/${gone}/00000000-${mintId()}.json`);
      for (const key of keys) await bucket.put(key, Buffer.from('{}'), 'application/json', signal);
      await http.write(other, `goes on from ${keys[0]}`);
      const broken = {
        ...bucket,
        remove: async (key: string) => (key === keys[1] ? assert.fail('down') : void objects.delete(key)),
      };
      const copies = keys.map((key) => ({ store: broken, key }));
      assert.equal(await removeCopies(copies, { fileStores: [records, http], log: silentLog }, signal), 1);
      assert.deepEqual([...objects.keys()], keys.slice(0, 2));
    });
  });
});
