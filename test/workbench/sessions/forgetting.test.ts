// Deleting a session in a real VS Code removes everything stored for it.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type ExtensionContext, Uri } from 'vscode';
import { Emitter } from '../../../src/base/event';
import { silentLog } from '../../../src/base/log';
import { FileStore } from '../../../src/client/sharing/fileStore';
import { mintId } from '../../../src/distributed/model/model';
import { LocalStore } from '../../../src/distributed/stores/localStore';
import { Archive } from '../../../src/workbench/sessions/archive';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { descriptorsIn } from '../sharing/descriptorsIn';

describe('deleting a session', function () {
  this.timeout(30_000);
  const signal = new AbortController().signal;
  let context: ExtensionContext;
  let folder: string;

  before(async () => {
    folder = await scratchFolder();
    const kept = new Map<string, unknown>();
    const memory = {
      get: (key: string, otherwise: unknown) => kept.get(key) ?? otherwise,
      update: async (key: string, value: unknown) => void kept.set(key, value),
    };
    const secrets = { onDidChange: new Emitter<never>().event };
    context = { globalStorageUri: Uri.file(folder), globalState: memory, workspaceState: memory, secrets } as never;
  });
  after(removeScratch);

  it('removes its messages and descriptor from disk', async () => {
    const archive = new Archive(context, silentLog);
    const store = new LocalStore({
      folder: join(folder, 'resources'),
      secret: randomBytes(32),
      baseUrl: () => undefined,
    });
    const descriptors = descriptorsIn(folder, context, store);
    const forgotten: Promise<void>[] = [];
    archive.onDidDelete((keys) => forgotten.push(descriptors.leftovers.forget(keys)));

    const [key, other] = [mintId(), mintId()];
    const keep = archive.persist({ key, agentId: 'demo', cwd: folder, roots: [folder] });
    keep.describe({ title: 'Gone' });
    const object = (of: string): string => `sessions/${mintId()}/${of}/00000000-${mintId()}.json`;
    const [own, foreign] = [object(key), object(other)];
    for (const name of [own, foreign]) await store.put(name, Buffer.from('{}'), 'application/json', signal);
    const fileStore = new FileStore(join(folder, 'http-sessions'));
    await fileStore.write(key, 'x');
    await fileStore.write(other, 'x');

    archive.delete(key);
    assert.equal(forgotten.length, 1);
    await Promise.all(forgotten);
    assert.deepEqual(await store.list('', signal), [foreign]);
    assert.deepEqual([await fileStore.read(key), await fileStore.read(other)], [undefined, 'x']);

    // A session whose messages another one needs is removed with that one.
    await fileStore.write(other, own.slice(-41));
    await store.put(own, Buffer.from('{}'), 'application/json', signal);
    await descriptors.leftovers.forget([key]);
    assert.deepEqual(await store.list('', signal), [own, foreign].sort());
    await descriptors.leftovers.forget([other]);
    assert.deepEqual(await store.list('', signal), []);
    descriptors.dispose();
    archive.dispose();
  });

  it('lists its copies in the bucket, and removes them only on request', async () => {
    const store = new LocalStore({ folder: join(folder, 'here'), secret: randomBytes(32), baseUrl: () => undefined });
    const objects = new Set<string>();
    const bucket = {
      id: 's3:https://s3.test/parley/',
      isLocal: false,
      keyOf: async () => undefined,
      remove: async (key: string) => void objects.delete(key),
    };
    const stores = { origin: undefined, onDidChange: new Emitter<never>().event, all: async () => [bucket, store] };
    const descriptors = descriptorsIn(folder, context, store, { stores });
    const key = mintId();
    const name = `sessions/s/${key}/00000000-${mintId()}.json`;
    objects.add(name);
    const entry = { kind: 'own', storeId: bucket.id, key: name, sha256: 'a'.repeat(64), bytes: 2 };
    const messages = new FileStore(join(folder, 'session-messages'));
    await messages.write(key, JSON.stringify({ record: { id: 's-1', entries: [entry] }, beyond: 0, shared: true }));
    const found = await descriptors.leftovers.copies.of(key);
    assert.deepEqual(
      found.map((copy) => copy.key),
      [name],
    );
    await descriptors.leftovers.forget([mintId()]);
    assert.deepEqual([...objects], [name]);
    await descriptors.leftovers.copies.remove(key, found);
    assert.deepEqual([...objects], []);
    assert.equal(await messages.read(key), undefined);
    descriptors.dispose();
  });
});
