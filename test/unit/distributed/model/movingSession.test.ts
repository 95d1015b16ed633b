// A chat session that moves between servers loses nothing and sends nothing twice.

import assert from 'node:assert/strict';
import { CommunicationClient } from '../../../../src/distributed/client/communicationClient';
import { type Message, mintId, type SessionDescriptor } from '../../../../src/distributed/model/model';
import { urlIdentity } from '../../../../src/distributed/model/resourceUrl';
import { mintToken } from '../../../../src/distributed/server/serverRequest';
import { serve, textIn, userMessage } from '../../../support/servers/servedAgents';
import { stubServer } from '../../../support/servers/stubServer';
import {
  AGENTS,
  answers,
  at,
  begin,
  closeChats,
  flakyClient,
  messagesIn,
  notices,
  oneWordServer,
  plainLinks,
  prompt,
} from '../client/chatBench';

const signal = new AbortController().signal;

describe('a chat with an HTTP agent', () => {
  afterEach(closeChats);

  describe('that moves between servers', () => {
    it('moves all messages from A to B and back, and each server stores only new ones', async () => {
      const [a, b] = [await serve(AGENTS), await serve(AGENTS)];
      const { session, events } = begin(at(a, 'history_echo'));
      await session.send(prompt('one'), signal);
      assert.deepEqual(answers(events.splice(0)), ['one']);
      await session.moveTo(at(b, 'history_echo'), signal);
      await session.send(prompt('two'), signal);
      assert.deepEqual(answers(events.splice(0)), ['one', 'one', 'two']);
      assert.equal((await a.client.session(session.descriptor.id, signal)).history.length, 2);
      assert.equal((await b.client.session(session.descriptor.id, signal)).history.length, 6);
      assert.deepEqual([await messagesIn(a), await messagesIn(b)], [2, 4]);
      await session.moveTo(at(a, 'history_echo'), signal);
      await session.send(prompt('three'), signal);
      assert.equal(answers(events).length, 7);
      assert.deepEqual([await messagesIn(a), await messagesIn(b)], [10, 4]);
      assert.equal(session.descriptor.history.length, 14);
      assert.deepEqual(notices(events), []);
    });

    it('loses nothing if the old server is down, even on the second attempt', async () => {
      const a = await serve(AGENTS);
      const { session } = begin(at(a, 'echo'));
      await session.send(prompt('one'), signal);
      const before = session.descriptor.history;
      await a.server.stop();
      await assert.rejects(session.send(prompt('lost?'), signal), { code: 'agent-server-unreachable' });
      const word = await oneWordServer(() => undefined);
      const flaky = flakyClient(word.stub);
      flaky.isDown = true;
      await session.moveTo(at(flaky, 'a'), signal);
      await assert.rejects(session.send(prompt('two'), signal), { code: 'agent-server-unreachable' });
      flaky.isDown = false;
      await session.send(prompt('three'), signal);
      const [body] = word.bodies();
      assert.equal(body?.session_id, undefined);
      // The user sends undelivered prompts again.
      assert.deepEqual(body?.session?.history, before);
    });

    it('sends only the session id to a server that has completed a run of it', async () => {
      const holds: { session: SessionDescriptor | undefined } = { session: undefined };
      const word = await oneWordServer(() => holds.session);
      const { session } = begin(word.place);
      const { id } = session.descriptor;
      const record = (...history: string[]) => {
        holds.session = { id, history: history.map((name) => `http://server.test/${name}`) };
      };
      record('1', '2');
      await session.send(prompt('one'), signal);
      record('1', '2');
      await session.send(prompt('two'), signal);
      assert.deepEqual(
        word.bodies().map((body) => Object.keys(body).filter((key) => key.startsWith('session'))),
        [['session'], ['session_id']],
      );
    });

    it('sends the session again to a server whose links to our store expire soon', async () => {
      const holds: { session: SessionDescriptor | undefined } = { session: undefined };
      const word = await oneWordServer(() => holds.session);
      let now = 0;
      const link = () => `http://bucket.test/1?exp=${now / 1000 + 86_400}&sig=s`;
      const descriptor = { id: mintId(), history: [link()] };
      const links = { ...plainLinks, fresh: async (url: string) => (url.startsWith('http://bucket') ? link() : url) };
      const { session } = begin(word.place, { descriptor, links, now: () => now });
      holds.session = { ...descriptor, history: [...descriptor.history, 'http://server.test/2'] };
      for (const hours of [0, 1, 23]) {
        now = hours * 3_600_000;
        await session.send(prompt(`at ${hours}`), signal);
      }
      assert.deepEqual(
        word.bodies().map((body) => body.session?.history.at(0)?.split('exp=')[1]),
        ['86400&sig=s', undefined, '169200&sig=s'],
      );
    });

    it('sends messages with expired links along if a copy exists', async () => {
      const word = await oneWordServer(() => undefined);
      const link = (name: string, exp: number) => `http://others.test/${name}?exp=${exp}&sig=s`;
      const history = [link('good', 2000), link('lost', 900), link('read', 900), link('behind', 2000)];
      const copies = new Map([
        [history[2], userMessage('read before')],
        [history[3], userMessage('behind it')],
      ]);
      const links = { ...plainLinks, read: async (url: string) => copies.get(url) ?? 'It is not there.' };
      const { session } = begin(word.place, { descriptor: { id: mintId(), history }, links, now: () => 1_000_000 });
      const recorded: string[] = [];
      const recorder = {
        has: async () => true,
        record: async (message: Message) => {
          recorded.push(textIn(message));
          return 'http://own.test/1';
        },
      };
      assert.deepEqual((await session.handOut(recorder, signal)).history, [
        ...history.slice(0, 2),
        'http://own.test/1',
        ...history.slice(3),
      ]);
      await session.handOut(recorder, signal);
      assert.deepEqual(recorded, ['read before']);
      await session.send(prompt('on'), signal);
      const [body] = word.bodies();
      assert.deepEqual(body?.session?.history, history.slice(0, 2));
      assert.deepEqual(body?.input?.map(textIn), ['read before', 'behind it', 'on']);
    });

    it('sends everything again after an error, even if the server seems up to date', async () => {
      const word = await oneWordServer(({ path }) => ({
        id: path.split('/').at(-1) ?? '',
        history: ['http://server.test/1'],
      }));
      const flaky = flakyClient(word.stub, 'POST');
      const { session } = begin(at(flaky, 'a'));
      await session.send(prompt('one'), signal);
      flaky.isDown = true;
      await assert.rejects(session.send(prompt('two'), signal), { code: 'agent-server-unreachable' });
      flaky.isDown = false;
      await session.send(prompt('three'), signal);
      assert.deepEqual(word.bodies()[1]?.session?.history, ['http://server.test/1']);
    });

    it('sends everything again to a server that forgot the session, with a notice', async () => {
      const token = mintToken();
      const a = await serve(AGENTS, { token });
      const { session, events } = begin(at(a, 'echo'));
      await session.send(prompt('one'), signal);
      await a.server.stop();
      const again = await serve(AGENTS, { token }, Number(new URL(a.baseUrl).port));
      await session.send(prompt('two'), signal);
      const { history } = await again.client.session(session.descriptor.id, signal);
      // The links are re-signed in any second.
      assert.deepEqual(history.map(urlIdentity), session.descriptor.history.map(urlIdentity));
      assert.equal(history.length, 4);
      assert.equal(notices(events)[0], 'server-forgot');
    });

    it('tells the user if a server responded without the past, and keeps both', async () => {
      let looks = 0;
      const word = await oneWordServer(({ path }) => {
        looks += 1;
        const history =
          looks <= 2
            ? ['http://server.test/1', 'http://server.test/2']
            : ['http://server.test/3', 'http://server.test/4'];
        return { id: path.split('/').at(-1) ?? '', history };
      });
      const { session, events } = begin(word.place);
      await session.send(prompt('one'), signal);
      await session.send(prompt('two'), signal);
      assert.equal(notices(events)[0], 'server-answered-without');
      assert.deepEqual(
        session.descriptor.history,
        [1, 2, 3, 4].map((name) => `http://server.test/${name}`),
      );
      await session.send(prompt('three'), signal);
      assert.ok(word.bodies()[2]?.session);
    });

    it('adopts messages that another client added on the server', async () => {
      const a = await serve(AGENTS);
      const first = begin(at(a, 'history_echo'));
      await first.session.send(prompt('one'), signal);
      const other = begin(at(a, 'echo'), { descriptor: first.session.descriptor });
      await other.session.send(prompt('elsewhere'), signal);
      await first.session.send(prompt('two'), signal);
      assert.deepEqual(answers(first.events).slice(1), ['one', 'one', 'elsewhere', 'elsewhere', 'two']);
      assert.equal(notices(first.events)[0], 'server-took-over');
    });

    it('is saved with the prompt before sending it', async () => {
      const order: string[] = [];
      const word = await stubServer((_request, response) => {
        order.push('request');
        response.destroy();
      });
      const bench = begin(
        { client: new CommunicationClient({ baseUrl: word.baseUrl }), agentName: 'a' },
        { keep: async () => void order.push(`keep ${bench.held().map(textIn)}`) },
      );
      await assert.rejects(bench.session.send(prompt('x'), signal));
      assert.equal(order[0], 'keep x');
    });
  });
});
