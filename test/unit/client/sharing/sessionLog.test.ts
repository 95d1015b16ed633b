// Messages of conversations with real agents as objects in a store: complete, in order, and only
// once, whatever happens in between.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentDefinition } from '../../../../src/agents/agentDefinition';
import { Deferred } from '../../../../src/base/deferred';
import { ParleyError } from '../../../../src/base/errors';
import { silentLog } from '../../../../src/base/log';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { Branches } from '../../../../src/client/sharing/branches';
import { FileStore } from '../../../../src/client/sharing/fileStore';
import { SessionLog, type SessionLogOptions } from '../../../../src/client/sharing/sessionLog';
import { Guard } from '../../../../src/distributed/fetch/guard';
import { Resolver } from '../../../../src/distributed/fetch/resolver';
import type { SessionDescriptor } from '../../../../src/distributed/model/model';
import { folderOf, type ResourceStore, sha256Of } from '../../../../src/distributed/model/resources';
import { readRecord } from '../../../../src/distributed/model/sessionRecord';
import { stopReasonOf } from '../../../../src/distributed/model/toMessages';
import { LocalStore } from '../../../../src/distributed/stores/localStore';
import { S3Store } from '../../../../src/distributed/stores/s3Store';
import { SessionModel } from '../../../../src/session/model/model';
import { scriptedAgent } from '../../../support/agents/definition';
import { pluck } from '../../../support/pluck';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { BUCKET_KEYS, startBucketServer } from '../../../support/servers/bucketServer';
import { parseAgent, type TestConversation, testConversation } from '../../../support/sessions/conversation';
import { sayIn } from '../../../support/sessions/messageLogs';

const never = new AbortController().signal;

function plain(): AgentDefinition {
  const agent = parseAgent(scriptedAgent('plain'), 'plain');
  return agent;
}

describe('the messages of a session', function () {
  this.timeout(30_000);
  let folder: string;
  let session: TestConversation | undefined;
  let store: LocalStore;
  const guards: Guard[] = [];
  const logs: SessionLog[] = [];

  beforeEach(async () => {
    folder = await scratchFolder();
    store = new LocalStore({
      folder: join(folder, 'resources'),
      secret: Buffer.alloc(32, 7),
      baseUrl: () => 'http://127.0.0.1:1',
    });
  });

  afterEach(async () => {
    await session?.close();
    session = undefined;
    for (const log of logs.splice(0)) {
      await log.settled();
      log.dispose();
    }
    for (const guard of guards.splice(0)) guard.dispose();
    await removeScratch();
  });

  function logOf(
    conversation: Pick<Conversation, 'key' | 'model'>,
    options: Partial<SessionLogOptions> = {},
  ): SessionLog {
    const { key, model } = conversation;
    const log = new SessionLog({
      key,
      model,
      agentName: () => 'Plain Agent',
      stores: async () => [store],
      fileStore: new FileStore(join(folder, 'fileStore')),
      isWanted: () => true,
      log: silentLog,
      onTrouble: (error) => assert.fail(String(error)),
      ...options,
    });
    logs.push(log);
    return log;
  }

  function open(): TestConversation {
    session = testConversation({ agent: plain(), cwd: folder });
    return session;
  }

  async function read(descriptor: SessionDescriptor, stores: readonly ResourceStore[] = [store]): Promise<string[]> {
    const guard = new Guard({ isAllowed: () => true });
    guards.push(guard);
    const entries = await new Resolver({ guard, stores }).resolveHistory(descriptor, {}, never);
    return entries.map((entry) => {
      if (entry.kind === 'gap') return `gap: ${entry.reason}`;
      const { message } = entry;
      const text = message.parts.map(({ content }) => content ?? '').join('');
      const reason = stopReasonOf(message);
      return `${message.role}: ${text}${reason === undefined ? '' : ` (${reason})`}`;
    });
  }

  it('are written when first shared, and as they arrive from then on', async () => {
    const { conversation } = open();
    const log = logOf(conversation);
    await conversation.send('say one').done;
    await conversation.send('say two').done;
    await log.settled();
    assert.deepEqual(await store.list('sessions/', never), []);
    assert.equal(await new FileStore(join(folder, 'fileStore')).read(conversation.key), undefined);
    assert.equal((await log.descriptor()).history.length, 4);
    await conversation.send('say three').done;
    await log.settled();
    assert.equal((await store.list('sessions/', never)).length, 6);
    // A later window knows that the session was shared.
    log.dispose();
    const later = logOf(conversation);
    await conversation.send('say four').done;
    await later.settled();
    assert.equal((await store.list('sessions/', never)).length, 8);
  });

  it('are the newest ones if the session is too long, and continue under another id as it grows', async () => {
    const model = new SessionModel();
    let turns = 0;
    const say = (count: number): void => {
      for (let n = 0; n < count; n++) sayIn(model, [`ask ${++turns}`, `answer ${turns}`]);
    };
    const bucket = new MemoryStore();
    let record = '';
    let written = 0;
    const fileStore = {
      read: async () => record || undefined,
      write: async (_key: string, text: string) => {
        record = text;
        written += text.length;
      },
    };
    const limited = { stores: async () => [bucket] as const, fileStore, maxMessages: 2000 };
    const log = logOf({ key: 'k', model }, limited);
    say(1200);
    const first = await log.descriptor();
    assert.equal(first.history.length, 1501);
    const texts = await read(first, [bucket]);
    assert.match(texts[0] ?? '', /^agent: \[The beginning of this session is left out/);
    assert.equal(texts[1], 'user: ask 451');
    assert.equal(texts.at(-1), 'agent/Plain-Agent: answer 1200');
    assert.ok(written < 40 * record.length, `${written} characters for a record of ${record.length}`);
    say(300);
    await log.settled();
    const second = await log.descriptor();
    assert.notEqual(second.id, first.id);
    assert.ok(second.history.length <= 2000);
    assert.equal((await read(second, [bucket])).at(-1), 'agent/Plain-Agent: answer 1500');
    const again = await logOf({ key: 'k', model }, limited).descriptor();
    assert.deepEqual(again, second);
  });

  it('are all kept if the disk rejects the shorter session', async () => {
    const model = new SessionModel();
    const bucket = new MemoryStore();
    let isFull = false;
    const fileStore = {
      read: async () => undefined,
      write: async () => {
        if (isFull) throw new Error('no room');
      },
    };
    const stores = async () => [bucket] as const;
    const log = logOf({ key: 'k', model }, { stores, fileStore, maxMessages: 4, onTrouble: () => {} });
    sayIn(model, ['ask 1', 'answer 1'], ['ask 2', 'answer 2']);
    const { id } = await log.descriptor();
    isFull = true;
    sayIn(model, ['ask 3', 'answer 3']);
    await assert.rejects(log.descriptor());
    assert.equal(log.record?.id, id);
    isFull = false;
    const texts = await read(await log.descriptor(), [bucket]);
    assert.deepEqual(
      texts.slice(1).map((text) => text.replace(/^.*: /, '')),
      ['answer 1', 'ask 2', 'answer 2', 'ask 3', 'answer 3'],
    );
  });

  it('are stored, in a session from elsewhere, once the newest are shown and before anything requests them', async () => {
    const { conversation } = open();
    const shown = new Deferred<void>();
    const log = logOf(conversation);
    const history = ['https://far.example/1', 'https://far.example/2'];
    log.begin({ id: 'far', history }, shown.promise);
    const asked = log.descriptor();
    await new Promise(setImmediate);
    const stored = (): number | undefined => log.record?.entries.length;
    assert.equal(stored(), undefined, 'nothing is written yet');
    shown.resolve();
    assert.deepEqual((await asked).history, history);
    await log.settled();
    assert.equal(stored(), 2);
  });

  it('include the prompt while its turn runs, and a stopped answer', async () => {
    const { conversation, until } = open();
    const log = logOf(conversation);
    const { done } = conversation.send('say half\nwait');
    await until((c) => c.model.state.entries.some(({ kind }) => kind === 'agent'));
    assert.deepEqual(await read(await log.descriptor()), ['user: say half\nwait']);
    conversation.cancel();
    await done;
    assert.deepEqual(await read(await log.descriptor()), [
      'user: say half\nwait',
      'agent/Plain-Agent: half (cancelled)',
    ]);
  });

  it('include the answer of an agent that exited', async () => {
    const { conversation } = open();
    const log = logOf(conversation);
    await conversation.send('say half\ndie 3').done;
    const said = await read(await log.descriptor());
    assert.equal(said.length, 2);
    assert.match(said[1] ?? '', /^agent\/Plain-Agent: half.*\(error\)$/s);
  });

  it('are written once if the window ends in between', async () => {
    const { conversation } = open();
    const first = logOf(conversation);
    await conversation.send('say one').done;
    await first.settled();
    first.dispose();
    await conversation.send('say unseen').done;
    const second = logOf(conversation);
    await conversation.send('say three').done;
    const texts = (await read(await second.descriptor())).map((line) => line.replace(/^.*: /, ''));
    assert.deepEqual(texts, ['say one', 'one', 'say unseen', 'unseen', 'say three', 'three']);
    const third = logOf(conversation);
    assert.equal((await third.descriptor()).history.length, 6, 'and nothing is written again by opening it');
  });

  it('are written later if they cannot be written now', async () => {
    const { conversation } = open();
    let isDown = true;
    const troubles: unknown[] = [];
    const log = logOf(conversation, {
      stores: async () => {
        if (isDown) throw new ParleyError('store-down', 'The store is down.');
        return [store];
      },
      onTrouble: (error) => troubles.push(error),
    });
    await assert.rejects(log.descriptor(), /is down/);
    await conversation.send('say one').done;
    await conversation.send('say two').done;
    await log.settled();
    assert.equal(troubles.length, 1);
    isDown = false;
    await conversation.send('say three').done;
    assert.equal((await log.descriptor()).history.length, 6);
  });

  it('stay separate if two conversations continue the same session', async () => {
    const { conversation } = open();
    const ours = logOf(conversation);
    await conversation.send('say one').done;
    const descriptor = await ours.descriptor();
    const reportedPairs: string[] = [];
    const branches = new Branches<{
      key: string;
      record: SessionLog['record'];
      onDidChange: SessionLog['onDidChange'];
    }>(({ one, other, common }) => reportedPairs.push([...[one.key, other.key].sort(), common].join(' ')));
    const asBranch = (key: string, log: SessionLog) => ({
      key,
      get record() {
        return log.record;
      },
      onDidChange: log.onDidChange,
    });
    branches.add(asBranch('a', ours));
    const theirs = testConversation({ agent: plain(), cwd: folder, key: 'other' });
    const their = logOf(theirs.conversation);
    branches.add(asBranch('b', their));
    their.begin(descriptor);
    await their.settled();
    assert.deepEqual(reportedPairs, [], 'the same history is no fork');
    await theirs.conversation.send('say theirs').done;
    await their.settled();
    assert.deepEqual(reportedPairs, [], 'one that is longer is none either');
    await conversation.send('say ours').done;
    await ours.settled();
    assert.deepEqual(reportedPairs, ['a b 2']);
    const again = logOf(conversation);
    const texts = (await read(await again.descriptor())).map((line) => line.replace(/^.*: /, ''));
    assert.deepEqual(texts, ['say one', 'one', 'say ours', 'ours']);
    const other = (await read(await their.descriptor())).map((line) => line.replace(/^.*: /, ''));
    assert.deepEqual(other, ['say one', 'one', 'say theirs', 'theirs']);
    assert.equal((await their.descriptor()).id, descriptor.id);
    await theirs.close();
  });

  it('reach a bucket that was down later, in order, even from a later window', async () => {
    const directory = await scratchFolder();
    const before = await startBucketServer({ directory });
    await before.close();
    const endpoint = `http://127.0.0.1:${before.port}`;
    const location = { endpoint, region: 'us-east-1', bucket: 'acp', prefix: 'p/', pathStyle: true };
    const bucket = new S3Store({ location, keys: BUCKET_KEYS });
    const waiting: number[] = [];
    const inBucket = {
      stores: async () => [bucket, store] as const,
      onDidWait: (count: number) => waiting.push(count),
    };
    const { conversation } = open();
    const log = logOf(conversation, inBucket);
    await log.descriptor('here');
    await conversation.send('say one').done;
    await log.settled();
    assert.deepEqual((await read(await log.descriptor('here'))).length, 2, 'they can be read here');
    assert.equal(waiting.at(-1), 2, 'the chat went on, and both wait');
    await assert.rejects(log.upload(never), { code: 'store-down' });
    log.dispose();
    const second = await startBucketServer({ directory, port: before.port });
    try {
      const closed = logOf({ key: conversation.key, model: new SessionModel() }, inBucket);
      await closed.upload(never);
      assert.equal(waiting.at(-1), 0);
      closed.dispose();
      const later = logOf(conversation, inBucket);
      await conversation.send('say two').done;
      assert.deepEqual(await read(await later.descriptor(), []), [
        'user: say one',
        'agent/Plain-Agent: one',
        'user: say two',
        'agent/Plain-Agent: two',
      ]);
    } finally {
      await second.close();
    }
  });

  it('reach the bucket in order, skipping one that it rejects', async () => {
    const bucket = new MemoryStore();
    const model = new SessionModel();
    const keys: string[] = [];
    let answer: string | undefined = 'store-down';
    const put = bucket.put.bind(bucket);
    bucket.put = async (key, bytes) => {
      if (answer !== undefined && !(answer === 'store-error' && keys.length > 0)) {
        const code = answer;
        if (code === 'store-error') answer = undefined;
        throw new ParleyError(code, 'Not now.');
      }
      keys.push(key);
      return put(key, bytes);
    };
    const log = logOf({ key: 'k', model }, { stores: async () => [bucket, store] });
    await log.descriptor('here');
    sayIn(model, 'one', 'two');
    await log.settled();
    answer = undefined;
    sayIn(model, 'three');
    await log.settled();
    assert.deepEqual(keys, [], 'later ones wait behind those that wait');
    answer = 'store-error';
    await assert.rejects(log.upload(never), { code: 'store-error' });
    assert.equal(keys.length, 2);
    assert.deepEqual(await read(await log.descriptor(), [bucket]), ['user: one', 'user: two', 'user: three']);
  });

  it('are found again after a crash between writing one and recording it', async () => {
    const model = new SessionModel();
    const records = new FileStore(join(folder, 'fileStore'));
    const log = logOf({ key: 'k', model });
    sayIn(model, 'one', 'two');
    await log.descriptor();
    const before = await records.read('k');
    sayIn(model, 'three');
    await log.settled();
    assert.ok(before !== undefined);
    await records.write('k', before);
    const [first = ''] = await store.list('sessions/', never);
    const path = join(folder, 'resources', first);
    const torn = path.replace(/\d{8}-[^/]*$/, `00000009-${'0'.repeat(8)}${'-0000'.repeat(3)}-${'0'.repeat(12)}.json`);
    await writeFile(torn, (await readFile(path)).subarray(0, 50));
    const again = logOf({ key: 'k', model });
    assert.deepEqual(await read(await again.descriptor()), ['user: one', 'user: two', 'user: three']);
  });

  it('are never signed by us if they belong to others', async () => {
    const [mine, other] = [new SessionModel(), new SessionModel()];
    const ours = logOf({ key: 'ours', model: mine });
    const private_ = logOf({ key: 'private', model: other });
    sayIn(mine, 'mine');
    sayIn(other, 'private');
    const { id, history, state: none } = await ours.descriptor();
    assert.equal(none, undefined);
    const [url = ''] = history;
    const forged = url.replace(/sig=.{5}/, 'sig=AAAAA');
    const foreign = ['http://resource-server-b/1?X-Amz-Signature=a', forged, ...(await private_.descriptor()).history];
    const state = 'http://resource-server-b/state?x=1';
    const next = logOf({ key: 'next', model: new SessionModel() });
    next.begin({ id, history: [url, ...foreign], state });
    const descriptor = await next.descriptor();
    assert.deepEqual(pluck(next.record?.entries ?? [], 'kind'), ['own', 'foreign', 'foreign', 'foreign']);
    assert.deepEqual([descriptor.history.slice(1), descriptor.state], [foreign, state]);
  });

  it('require the store that contains them', async () => {
    const model = new SessionModel();
    const bucket = new MemoryStore();
    sayIn(model, 'one');
    await logOf({ key: 'k', model }, { stores: async () => [bucket, store] }).descriptor();
    await assert.rejects(logOf({ key: 'k', model }).descriptor(), { code: 'store-missing' });
  });

  it('can be moved to a bucket', async () => {
    const { conversation } = open();
    const first = logOf(conversation);
    await conversation.send('say one').done;
    await first.descriptor();
    const other = new LocalStore({
      folder: join(folder, 'elsewhere'),
      secret: Buffer.alloc(32, 9),
      baseUrl: () => 'http://127.0.0.1:2',
    });
    let stores: readonly [ResourceStore, ...ResourceStore[]] = [store];
    const log = logOf(conversation, { stores: async () => stores });
    await log.descriptor();
    stores = [wrapped(other, 'bucket'), store];
    log.storesChanged();
    assert.deepEqual(await log.move(never), { moved: 2, unreadable: [] });
    const { history } = await log.descriptor();
    assert.ok(history.every((url) => url.startsWith('http://127.0.0.1:2/')));
  });
});

class MemoryStore implements ResourceStore {
  readonly id = 'memory';
  readonly isLocal = false;
  readonly #objects = new Map<string, Uint8Array>();

  async put(key: string, bytes: Uint8Array) {
    this.#objects.set(key, bytes);
    return { key, sha256: sha256Of(bytes), bytes: bytes.length, state: 'stored' as const };
  }

  async get(key: string) {
    const bytes = this.#objects.get(key);
    if (!bytes) throw new ParleyError('not-found', key);
    return bytes;
  }

  urlFor = async (key: string) => `http://memory.test/${key}`;
  keyOf = async (url: string) => url.slice('http://memory.test/'.length);
  list = async (prefix: string) => [...this.#objects.keys()].filter((key) => key.startsWith(prefix));
  remove = async (key: string) => {
    this.#objects.delete(key);
  };
}

function wrapped(store: LocalStore, id: string): ResourceStore {
  return {
    id,
    isLocal: true,
    put: (...args) => store.put(...args),
    get: (...args) => store.get(...args),
    urlFor: (...args) => store.urlFor(...args),
    keyOf: (url) => store.keyOf(url),
    remove: (...args) => store.remove(...args),
    list: (...args) => store.list(...args),
  };
}

it('are in a separate folder per session, even if names ignore case', () => {
  const ids = ['session-123', 'SESSION-123', 'a:b', 'con', 'x', 'a.b', '3f3487fd-0db3-42bd-8d03-a01add7f517a'];
  const folders = ids.map(folderOf);
  assert.equal(new Set(folders.map((one) => one.toLowerCase())).size, ids.length);
  for (const one of folders) assert.match(one, /^sessions\/[a-z0-9][a-z0-9-]{7,63}\/$/);
});

it('are not read from a damaged record', () => {
  for (const record of [null, {}, { id: 'x', entries: [{ kind: 'own' }] }, { id: '../x', entries: [] }])
    assert.throws(() => readRecord(record), { code: 'invalid-data' });
});
