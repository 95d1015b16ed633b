// Messages that need a token: the gap says so, and only that server gets the user's token.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type ExtensionContext, Uri } from 'vscode';
import { Emitter } from '../../../src/base/event';
import { silentLog } from '../../../src/base/log';
import type { Conversation } from '../../../src/client/conversation/conversation';
import { gapText } from '../../../src/client/view/ownTexts';
import { LocalStore } from '../../../src/distributed/stores/localStore';
import type { TimedEvent } from '../../../src/session/events/event';
import { SessionModel } from '../../../src/session/model/model';
import type { Questions } from '../../../src/workbench/config/questions';
import type { Descriptors } from '../../../src/workbench/sharing/descriptors';
import { ResourceAccess } from '../../../src/workbench/sharing/resourceAccess';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { json, type StubServer, stopStubs, stubServer } from '../../support/servers/stubServer';
import { descriptorsIn } from './descriptorsIn';

class User implements Questions {
  readonly asked: string[] = [];
  token: string | undefined;

  choice: string | undefined = 'Always Allow';
  readonly chosen: string[] = [];

  async choose(text: string): Promise<string | undefined> {
    this.chosen.push(text);
    return this.choice;
  }
  async line({ title = '', prompt, secret }: Parameters<Questions['line']>[0]): Promise<string | undefined> {
    this.asked.push(`${title} | ${prompt} | ${secret ? 'secret' : 'open'}`);
    return this.token;
  }
  pick(): Promise<never> {
    return Promise.reject(new Error('nothing to pick'));
  }
}

describe('messages of a server that requires a token', function () {
  this.timeout(30_000);
  const TOKEN = 'sesame-street-1';
  const secrets = new Map<string, string>();
  const kept = new Map<string, unknown>();
  const secretChanged = new Emitter<unknown>();
  let user: User;
  let descriptors: Descriptors;
  let model: SessionModel;
  let conversation: Conversation;
  let locked: StubServer;
  let open: StubServer;

  beforeEach(async () => {
    user = new User();
    secrets.clear();
    kept.clear();
    const message = { role: 'user', parts: [{ content: 'words' }] };
    locked = await stubServer(({ headers, path }, response) => {
      if (headers.authorization !== `Bearer ${TOKEN}`) json(response, 401, { message: 'no' });
      else if (path.startsWith('/sessions/'))
        json(response, 200, { id: 'session-123', history: [`${locked.baseUrl}/1`] });
      else json(response, 200, message);
    });
    open = await stubServer((_request, response) => json(response, 200, message));
    const folder = await scratchFolder();
    const memory = {
      get: (key: string, otherwise: unknown) => kept.get(key) ?? otherwise,
      update: async (key: string, value: unknown) => void kept.set(key, value),
    };
    const context = {
      globalStorageUri: Uri.file(folder),
      globalState: memory,
      secrets: {
        get: async (key: string) => secrets.get(key),
        store: async (key: string, value: string) => void secrets.set(key, value),
        onDidChange: secretChanged.event,
      },
    } as unknown as ExtensionContext;
    model = new SessionModel();
    const agent = { type: 'process', id: 'a', name: 'A' };
    const note = (events: readonly TimedEvent[]): void => {
      for (const { at, event } of events) model.apply(event, at);
    };
    conversation = { key: 'k', agent, model, note } as unknown as Conversation;
    const added = new Emitter<Conversation>();
    const store = new LocalStore({
      folder: join(folder, 'resources'),
      secret: randomBytes(32),
      baseUrl: () => undefined,
    });
    const catalog = { own: () => [], preferred: () => agent };
    const stores = { origin: undefined, onDidChange: new Emitter<void>().event, all: async () => [store] };
    const allowed = new Set<string>();
    const origins = {
      has: (origin: string) => allowed.has(origin),
      allowAlways: async (some: readonly string[]) => {
        for (const one of some) allowed.add(one);
      },
    };
    descriptors = descriptorsIn(folder, context, store, {
      catalog,
      conversations: {
        onDidAdd: added.event,
        onDidRemove: new Emitter<Conversation>().event,
        create: () => {
          added.fire(conversation);
          return conversation;
        },
      },
      stores,
      access: new ResourceAccess({ context, origins, log: silentLog, ask: user }),
    });
  });
  afterEach(async () => {
    await descriptors.settled();
    descriptors.dispose();
    await stopStubs();
    await removeScratch();
  });

  const gaps = (): string[] => model.state.entries.flatMap((entry) => (entry.kind === 'gap' ? [gapText(entry)] : []));
  const said = (): number => model.state.entries.filter(({ kind }) => kind === 'user').length;

  it('are gaps that say why, and are all read once the token was given', async () => {
    const history = [`${locked.baseUrl}/1`, `${open.baseUrl}/2`, `${locked.baseUrl}/3`];
    await descriptors.open({ id: 'session-123', history });
    const { host, origin } = new URL(locked.baseUrl);
    assert.deepEqual(
      gaps(),
      [1, 3].map((number) => `Message ${number} is missing. ${host} requires a token. Select Retry to enter it.`),
    );
    assert.equal(user.asked.length, 0, 'nobody is asked before they want it');

    await descriptors.missing.retry(conversation, 'past-0');
    assert.equal(gaps().length, 2, 'the user went away');
    user.token = 'wrong';
    await descriptors.missing.retry(conversation, 'past-0');
    assert.equal(gaps().length, 2);
    user.token = `Bearer ${TOKEN}`;
    await descriptors.missing.retry(conversation, 'past-0');
    assert.deepEqual(gaps(), [], 'one token is for all messages of its server');
    assert.equal(said(), 3);

    assert.deepEqual(
      user.asked.map((question) => question.split(' | ')[0]),
      [
        `${origin} requires a token for the messages of this session`,
        `${origin} requires a token for the messages of this session`,
        `${origin} rejected the token`,
      ],
    );
    assert.ok(
      user.asked.every((question) => question.endsWith('secret') && question.includes(`sent to ${origin} only`)),
    );
    assert.deepEqual([...secrets], [[`parley.remote:${origin} (messages)`, TOKEN]]);
    assert.ok(
      open.requests.every(({ headers }) => headers.authorization === undefined),
      'no other server gets it',
    );
    assert.ok(!JSON.stringify(model.state.entries).includes(TOKEN));
  });

  it('are asked about once for all servers, and at a gap for all messages of its server', async () => {
    user.choice = undefined;
    await descriptors.open({ id: 'session-123', history: [1, 2, 3].map((at) => `${open.baseUrl}/${at}`) });
    assert.equal(user.chosen.length, 1);
    assert.equal(gaps().length, 3);
    user.choice = 'Allow Once';
    await descriptors.missing.retry(conversation, 'past-1');
    assert.equal(user.chosen.length, 2);
    assert.deepEqual([gaps().length, said()], [0, 3]);
  });

  it('are not read after the token was deleted', async () => {
    user.token = TOKEN;
    const address = `${locked.baseUrl}/sessions/session-123`;
    await descriptors.read(address, true);
    const before = locked.requests.length;
    await descriptors.read(address);
    assert.equal(locked.requests.length, before + 1, 'it is sent with the first request from then on');
    secrets.clear();
    secretChanged.fire(undefined);
    await assert.rejects(descriptors.read(address), { code: 'session-locked' });
  });

  it('open by the address of their session, without asking programs', async () => {
    const address = `${locked.baseUrl}/sessions/session-123`;
    await assert.rejects(descriptors.read(address), { code: 'session-locked' });
    assert.equal(user.asked.length, 0);
    await assert.rejects(descriptors.read(address, true), { code: 'session-locked' });
    user.token = TOKEN;
    const descriptor = await descriptors.read(address, true);
    await descriptors.open(descriptor);
    assert.deepEqual([gaps().length, said()], [0, 1]);
  });
});
