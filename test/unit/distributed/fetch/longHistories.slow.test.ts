// Sessions of many thousand messages: continued, stored, exported and read back; longer ones are
// rejected.

import assert from 'node:assert/strict';
import { localize } from '../../../../src/base/localizable';
import { silentLog } from '../../../../src/base/log';
import { CommunicationChat } from '../../../../src/client/http/communicationChat';
import { readRecord } from '../../../../src/client/http/communicationRecord';
import { CommunicationClient } from '../../../../src/distributed/client/communicationClient';
import { exportDescriptor, parseDescriptor } from '../../../../src/distributed/fetch/descriptor';
import { Resolver } from '../../../../src/distributed/fetch/resolver';
import type { ResourceCache } from '../../../../src/distributed/fetch/resourceCache';
import { MAX_HISTORY, type Message, mintId } from '../../../../src/distributed/model/model';
import { SessionModel } from '../../../../src/session/model/model';
import { originalServer } from '../../../support/servers/originalServer';
import { userMessage } from '../../../support/servers/servedAgents';
import { stopStubs } from '../../../support/servers/stubServer';
import { Kept } from '../../client/http/farAgents';
import { begin, plainLinks } from '../client/chatBench';
import { closeServers, messageText, serve } from '../loopback';
import { guardFor } from './resolvers';

const signal = new AbortController().signal;
const MANY = 10_000;
const prompt = [{ type: 'text' as const, text: 'go on' }];
const manyMessages = (count: number): Message[] =>
  Array.from({ length: count }, (_, index) => userMessage(`m${index}`));

describe('a session of many thousand messages', function () {
  this.timeout(30_000);
  afterEach(async () => {
    await stopStubs();
    await closeServers();
  });

  it('continues with an HTTP agent, and is stored, shared and read back completely', async () => {
    const server = await originalServer();
    const id = mintId();
    server.record(id, [], manyMessages(MANY));
    const kept = new Kept();
    const services = { log: silentLog, clock: { now: Date.now }, descriptors: kept, historyLinks: () => plainLinks };
    const chat = new CommunicationChat('test', services, new SessionModel(), () => []);
    const place = { client: new CommunicationClient({ baseUrl: server.baseUrl }), agentName: 'a' };
    await chat.open(id, place, signal);
    await chat.send(prompt, signal);
    assert.equal(server.knew.at(-1)?.length, MANY + 1);
    const record = readRecord(kept.texts.get('test') ?? '');
    assert.equal(record?.descriptor.history.length, MANY + 2);
    assert.deepEqual(record?.held, []);
    const descriptor = await chat.handOut(
      { has: async () => true, record: () => assert.fail('nothing is held') },
      signal,
    );
    const exported = exportDescriptor(descriptor ?? assert.fail());
    for (const form of [exported.text, exported.link])
      assert.deepEqual(parseDescriptor(form), { kind: 'descriptor', descriptor });
  });

  it('starts few messages per server at a time, for all servers', async () => {
    const held: (() => void)[] = [];
    let isHeld = true;
    const servers = await Promise.all(
      [1, 2].map(() =>
        serve((_request, response) => {
          const answer = (): void => void response.end(messageText('here'));
          if (isHeld) held.push(answer);
          else answer();
        }),
      ),
    );
    const origins = servers.map(({ origin }) => origin);
    const history = Array.from({ length: 2000 }, (_, index) => `${origins[index % 2]}/${index}`);
    const looked = new Map<string, number>();
    const cache = {
      get: async (name: string): Promise<undefined> => {
        const origin = origins.find((one) => name.includes(one)) ?? '';
        looked.set(origin, (looked.get(origin) ?? 0) + 1);
      },
      touch: () => undefined,
      put: () => undefined,
    };
    const resolver = new Resolver({ guard: guardFor({ allow: origins }), cache: cache as unknown as ResourceCache });
    const newest = { count: 2, others: Promise.resolve() };
    const reading = resolver.resolveHistory({ id: mintId(), history }, { newest }, signal);
    // All slots of the limit are taken by then.
    while (held.length < 8) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([...looked.keys()].sort(), origins.toSorted());
    for (const [origin, count] of looked) assert.ok(count < 50, `${count} of ${origin}`);
    isHeld = false;
    for (const answer of held) answer();
    assert.equal((await reading).filter(({ kind }) => kind === 'message').length, 2000);
  });

  it('is rejected with a reason if it is too long', async () => {
    const history = Array.from({ length: MAX_HISTORY + 1 }, (_, index) => `http://server.test/${index}`);
    const sentence = /The session has 20,001 messages; the maximum is 20,000\./;
    assert.throws(() => parseDescriptor({ id: 'x-1', history }), sentence);
    const server = await originalServer();
    const id = mintId();
    server.record(id, history, []);
    const client = new CommunicationClient({ baseUrl: server.baseUrl });
    await assert.rejects(client.session(id, signal), sentence);
    const { session, events } = begin({ client, agentName: 'a' }, { descriptor: { id, history: [] } });
    for (const text of ['one', 'two']) {
      await session.send([{ type: 'text', text }], signal);
      server.record(id, history, []);
    }
    await session.send([{ type: 'text', text: 'three' }], signal);
    const told = events.filter((event) => event.type === 'notice');
    assert.equal(told.length, 1);
    assert.match(localize(told[0]?.description ?? ''), sentence);
  });
});
