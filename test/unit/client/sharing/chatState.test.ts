// The state of a chat's session: its agent stores and reads it as if served, it is shared with the
// session, and no other agent replaces it.

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentDefinition } from '../../../../src/agents/agentDefinition';
import { Deferred } from '../../../../src/base/deferred';
import { silentLog } from '../../../../src/base/log';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { FileStore } from '../../../../src/client/sharing/fileStore';
import { SessionLog, type SessionLogOptions } from '../../../../src/client/sharing/sessionLog';
import { copiesOf, removeRemains } from '../../../../src/client/sharing/sessionRemains';
import { ChatState, type ChatStateOptions, StateExchange } from '../../../../src/client/sharing/stateExchange';
import { mintId } from '../../../../src/distributed/model/model';
import type { ResourceStore } from '../../../../src/distributed/model/resources';
import { LocalStore } from '../../../../src/distributed/stores/localStore';
import { scriptedAgent } from '../../../support/agents/definition';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { parseAgent, type TestConversation, testConversation } from '../../../support/sessions/conversation';
import { stateOffers as offers, storesState as store } from '../serving/servedScripted';

const never = new AbortController().signal;
const DEMO = { command: process.execPath, args: [join(process.cwd(), 'out/support/demo/agent.js')], env: {} };

function answer({ model: { state } }: Conversation): string {
  const asked = state.entries.findLastIndex(({ kind }) => kind === 'user');
  const blocks = state.entries.slice(asked).flatMap((entry) => (entry.kind === 'agent' ? entry.content : []));
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

interface Chat {
  readonly session: TestConversation;
  readonly log: SessionLog;
  readonly state: StateExchange;
  say(text: string): Promise<string>;
}

describe('the state of a chat', function () {
  this.timeout(30_000);
  let folder: string;
  let local: LocalStore;
  const open: Chat[] = [];

  beforeEach(async () => {
    folder = await scratchFolder();
    local = localStore('resources', () => 'http://127.0.0.1:1');
  });

  afterEach(async () => {
    for (const chat of open.splice(0)) await close(chat);
    await removeScratch();
  });

  function localStore(name: string, baseUrl: () => string | undefined): LocalStore {
    return new LocalStore({ folder: join(folder, name), secret: Buffer.alloc(32, 7), baseUrl });
  }

  async function close({ session, state, log }: Chat): Promise<void> {
    await session.close();
    await state.settled();
    await log.settled();
    log.dispose();
  }

  function chatWith(
    agent: AgentDefinition,
    options: Partial<SessionLogOptions & ChatStateOptions> & { readonly log?: never; readonly chat?: string } = {},
  ): Chat {
    const { chat: key = 'test', fetch = async () => 'no fetch in this test', ...more } = options;
    let state: StateExchange | undefined;
    const session = testConversation({ agent, cwd: folder, key, services: { agentState: () => state } });
    const { conversation } = session;
    const messages = new SessionLog({
      key,
      model: conversation.model,
      agentName: () => agent.name,
      stores: async () => [local],
      fileStore: new FileStore(join(folder, 'fileStore')),
      isWanted: () => true,
      onTrouble: (error) => assert.fail(String(error)),
      ...more,
      log: silentLog,
    });
    const keeper = new ChatState({ messages, agent: () => agent, fetch });
    state = new StateExchange(silentLog, keeper);
    const say = async (text: string): Promise<string> => {
      await conversation.send(text).done;
      await state?.settled();
      return answer(conversation);
    };
    const chat = { session, log: messages, state, say };
    open.push(chat);
    return chat;
  }

  async function later(chat: Chat, agent: AgentDefinition): Promise<Chat> {
    await close(chat);
    open.splice(open.indexOf(chat), 1);
    return chatWith(agent);
  }

  async function stateOf(log: SessionLog): Promise<string | undefined> {
    const { state } = await log.descriptor();
    const key = state === undefined ? undefined : await local.keyOf(state);
    return key === undefined ? undefined : Buffer.from(await local.get(key, never)).toString('utf8');
  }

  const states = async (): Promise<readonly string[]> =>
    (await local.list('sessions/', never)).filter((key) => key.includes('/state-'));

  it('is updated by the demo agent before the session is shared, afterwards, and in the next window', async () => {
    const demo = parseAgent(DEMO, 'demo');
    const chat = chatWith(demo);
    assert.equal(await chat.say('/count'), 'Count: 1');
    assert.equal(await chat.say('/count'), 'Count: 2');
    assert.deepEqual((await local.list('sessions/', never)).length, 1, 'messages are not written, states not heaped');
    const next = await later(chat, demo);
    assert.equal(await next.say('/count'), 'Count: 3');
    assert.equal(await stateOf(next.log), '3');
    assert.equal(await next.say('/count'), 'Count: 4');
    assert.equal(await stateOf(next.log), '4');
    const last = await later(next, demo);
    assert.equal(await last.say('/count'), 'Count: 5');
  });

  it('continues from the state of an imported session if the agent has stored it', async () => {
    const { log, say } = chatWith(parseAgent(DEMO, 'demo'), { fetch: async () => Buffer.from('41') });
    const foreign = 'http://elsewhere.test/state';
    log.begin({ id: mintId(), history: [], state: foreign });
    await log.stateIsOf('demo');
    assert.equal(await say('/count'), 'Count: 42');
    assert.equal(await stateOf(log), '42');
  });

  it('is neither read nor replaced if it belongs to another agent, which receives the reason', async () => {
    const record = join(folder, 'agent.ndjson');
    const { log, say } = chatWith(parseAgent(scriptedAgent('plain', record), 'plain'), {
      fetch: async () => assert.fail('it is not fetched'),
    });
    const foreign = 'http://elsewhere.test/state';
    log.begin({ id: mintId(), history: [], state: foreign });
    await log.stateIsOf('demo');
    await say(store(foreign, 'mine'));
    await say(store(null, 'mine'));
    await say('say x');
    const other = { url: foreign, unavailable: 'Another agent stored it.' };
    assert.deepEqual(offers(record), [other, { ...other, conflict: true }, { ...other, conflict: true }]);
    assert.equal((await log.descriptor()).state, foreign);
    assert.deepEqual(await states(), []);
  });

  it('stays on this machine until the session is shared, then moves to the configured store', async () => {
    const remote = localStore('far', () => 'http://far.test');
    const far: ResourceStore = {
      id: 'far',
      isLocal: false,
      put: (...args) => remote.put(...args),
      get: (...args) => remote.get(...args),
      urlFor: (...args) => remote.urlFor(...args),
      keyOf: (url) => remote.keyOf(url),
      remove: (...args) => remote.remove(...args),
    };
    const key = 'shared-chat';
    const fileStore = new FileStore(join(folder, 'fileStore'));
    const { log, say } = chatWith(parseAgent(DEMO, 'demo'), { stores: async () => [far, local], chat: key });
    await say('/count');
    assert.deepEqual(await readdir(join(folder, 'far')).catch(() => []), []);
    assert.match((await log.descriptor()).state ?? '', /^http:\/\/far\.test\//);
    await say('/count');
    assert.match((await log.descriptor()).state ?? '', /^http:\/\/far\.test\//);
    const copies = await copiesOf(key, {
      messages: fileStore,
      http: new FileStore(join(folder, 'http')),
      stores: [far],
    });
    assert.equal(copies.filter((copy) => copy.key.includes('/state-')).length, 2);
  });

  it('is available if the session is opened with the same agent, and not with another one', async () => {
    const demo = parseAgent(DEMO, 'demo');
    const first = chatWith(demo);
    await first.say('/count');
    const descriptor = await first.log.descriptor();
    assert.equal(first.log.stateBy, 'demo');
    const arrive = async (agent: AgentDefinition, chat: string): Promise<Chat> => {
      const opened = chatWith(agent, { chat });
      opened.log.begin(descriptor);
      await opened.log.stateIsOf('demo');
      return opened;
    };
    assert.equal(await (await arrive(demo, 'same')).say('/count'), 'Count: 2');
    const other = await arrive(parseAgent({ ...DEMO, name: 'Counter' }, 'counter'), 'other');
    assert.match(await other.say('/count'), /Another agent stored it\.\s+Count: 1$/);
    assert.match(await other.say('/count'), /my last count was not stored/);
    assert.equal((await other.log.descriptor()).state?.split('?')[0], descriptor.state?.split('?')[0]);
    assert.equal(await stateOf(first.log), '1');
  });

  it('is kept in the newest version that others have links to, and deleted with its session', async () => {
    const { log, say } = chatWith(parseAgent(DEMO, 'demo'));
    await log.descriptor();
    for (let n = 0; n < 11; n++) await say('/count');
    assert.equal((await states()).length, 9);
    const fileStore = new FileStore(join(folder, 'fileStore'));
    await removeRemains(['test'], { fileStores: [fileStore], store: local, log: silentLog }, never);
    assert.deepEqual(await states(), []);
  });
});

describe('StateExchange', () => {
  it('stores only the last of several waiting states', async () => {
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
