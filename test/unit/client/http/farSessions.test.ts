// Sessions of HTTP agents: they continue after a restart, at another address and in the next
// window, or report what is missing.
import { strict as assert } from 'node:assert';
import { Deferred } from '../../../../src/base/deferred';
import type { KeptConversation } from '../../../../src/client/conversation/persistence';
import { projectSession } from '../../../../src/client/view/projectSession';
import { orAborted } from '../../../../src/distributed/model/deadline';
import { mintId, type Run, textPart } from '../../../../src/distributed/model/model';
import { Changes } from '../../../../src/session/model/changes';
import { SessionModel } from '../../../../src/session/model/model';
import { agentOf, fetchPast, serve, textIn } from '../../../support/servers/servedAgents';
import { plainLinks } from '../../distributed/client/chatBench';
import { AGENTS, define, Kept, notices, remoteFor, TOKEN, texts, useFarAgents } from './farAgents';

describe('an HTTP agent in the panel', function () {
  this.timeout(20_000);
  const { open, openServed } = useFarAgents();

  describe('whose session continues', () => {
    it('resumes after a restart', async () => {
      const opened = await openServed('history_echo');
      const { conversation } = opened;
      await conversation.send('one').done;
      const { sessionId } = conversation;
      await conversation.restart();
      assert.equal(conversation.sessionId, sessionId);
      await conversation.send('two').done;
      assert.deepEqual(texts(opened), ['one', 'one', 'one', 'two']);
      assert.deepEqual(notices(opened), []);
    });

    it('moves when the address of the agent changes', async () => {
      const [a, b] = [await serve(AGENTS), await serve(AGENTS)];
      const headers = { Authorization: TOKEN };
      let now = define(a.baseUrl, 'history_echo', headers);
      const opened = open(now, { remote: remoteFor(a, b), currentAgent: () => now });
      const { conversation } = opened;
      await conversation.send('one').done;
      now = define(b.baseUrl, 'history_echo', headers);
      await conversation.restart();
      await conversation.send('two').done;
      assert.deepEqual(texts(opened), ['one', 'one', 'one', 'two']);
      assert.deepEqual(notices(opened), ['session-moved']);
      const { id, history } = conversation.communication.descriptor ?? assert.fail();
      assert.equal(history.length, 6);
      assert.equal((await a.client.session(id, new AbortController().signal)).history.length, 2);
    });

    it('outlives its window, with the work that its server did in the meantime', async () => {
      const descriptors = new Kept();
      const { conversation, server } = await openServed('history_echo', { descriptors });
      await conversation.send('one').done;
      const { sessionId } = conversation;
      const text = descriptors.texts.get('test') ?? '';
      assert.equal(text.includes(server.token), false);
      conversation.dispose();
      const signal = new AbortController().signal;
      const request = { agentName: 'echo', input: [{ role: 'user', parts: [textPart('meanwhile')] }] };
      await server.client.runSync({ ...request, ...(sessionId !== undefined && { sessionId }) }, signal);
      const again = open(
        define(server.baseUrl, 'history_echo', { Authorization: TOKEN }),
        { descriptors, remote: remoteFor(server) },
        sessionId,
      );
      await again.conversation.send('two').done;
      assert.deepEqual(texts(again), ['one', 'one', 'meanwhile', 'meanwhile', 'two']);
      assert.equal(notices(again)[0], 'server-took-over');
    });

    it('is shared with what its server recorded after the window ended', async () => {
      const descriptors = new Kept();
      const atWork: string[] = [];
      descriptors.write = async (key, text) => {
        if (text.includes('"running":true')) atWork.push(text);
        descriptors.texts.set(key, text);
      };
      const { conversation, server } = await openServed('slow_words', { descriptors });
      await conversation.send('one').done;
      const { sessionId } = conversation;
      conversation.dispose();
      descriptors.texts.set('test', atWork[0] ?? '');
      const again = open(
        define(server.baseUrl, 'slow_words', { Authorization: TOKEN }),
        { descriptors, remote: remoteFor(server), historyLinks: () => plainLinks },
        sessionId,
      );
      const chat = again.conversation.communication;
      assert.equal(await chat.missedEnd(), true);
      await again.conversation.start();
      assert.equal(await chat.missedEnd(), false);
      const recorder = {
        has: async () => false,
        record: () => Promise.reject(new Error('its server has recorded everything')),
      };
      const out = await chat.handOut(recorder, new AbortController().signal);
      const past = await fetchPast(out?.history ?? [], new AbortController().signal);
      assert.deepEqual(
        past.map((entry) => (entry.kind === 'message' ? textIn(entry.message) : entry.reason)),
        ['one', 'a b '],
      );
    });

    describe('while its agent still works for a killed window', () => {
      /** Returns a window killed during its first answer, and what it had stored by then. */
      async function killed(
        asksFor?: string,
        stored?: KeptConversation,
      ): Promise<{
        readonly next: ReturnType<typeof open>;
        readonly run: () => Promise<Run>;
        readonly finish: () => void;
        readonly asked: readonly string[];
      }> {
        const [gate, begun] = [new Deferred<void>(), new Deferred<void>()];
        const asked: string[] = [];
        const gated = agentOf('gated', async (input, out, _context, signal) => {
          const text = input.map(textIn).at(-1) ?? '';
          asked.push(text);
          begun.resolve();
          out.part(textPart(`${text}: `));
          if (asked.length === 1) await orAborted(gate.promise, signal);
          if (asksFor !== undefined) out.part(textPart(textIn(await out.ask([textPart(asksFor)]))));
          out.part(textPart('done'));
        });
        const server = await serve([gated]);
        const [records, named] = [new Kept(), new Deferred<string>()];
        records.write = async (_key, text) => {
          if (text.includes('"running":{')) named.resolve(text);
        };
        const agent = define(server.baseUrl, 'gated', { Authorization: TOKEN });
        const first = open(agent, { descriptors: records, remote: remoteFor(server) });
        void first.conversation.send('one');
        const descriptors = new Kept();
        const text = await named.promise;
        await begun.promise;
        descriptors.texts.set('test', text);
        const { runId } = (JSON.parse(text) as { running: { runId: string } }).running;
        const run = () => server.client.run(runId, new AbortController().signal);
        const follow = { pollMs: 1 };
        const services = { descriptors, follow, remote: remoteFor(server), historyLinks: () => plainLinks };
        const next = open(agent, services, first.conversation.sessionId, 'keep', stored);
        return { next, run, finish: () => gate.resolve(), asked };
      }

      async function noticeShown(opened: ReturnType<typeof open>): Promise<void> {
        const { conversation } = opened;
        await new Promise<void>((resolve) => {
          const check = (): void => {
            changes.reset();
            if (notices(opened).includes('agent-still-works')) resolve();
          };
          const changes = new Changes(check);
          conversation.model.observe(changes);
          check();
        });
      }

      it('sends the next message when that answer is complete, and keeps both', async () => {
        const { next, finish, asked } = await killed();
        const { done } = next.conversation.send('two');
        await Promise.race([noticeShown(next), done]);
        assert.deepEqual(asked, ['one']);
        finish();
        await done;
        const { history } = next.conversation.communication.descriptor ?? assert.fail();
        const past = await fetchPast(history, new AbortController().signal);
        assert.deepEqual(
          past.map((entry) => (entry.kind === 'message' ? textIn(entry.message) : entry.reason)),
          ['one', 'one: done', 'two', 'two: done'],
        );
      });

      it('adds the rest of that answer in its place, without a notice', async () => {
        const model = new SessionModel();
        const prompt = { type: 'text', text: 'one' } as const;
        model.apply({ type: 'turn_started', turnId: 't1', origin: 'user', at: 1 }, 1);
        model.apply({ type: 'prompt_sent', turnId: 't1', promptId: 'q1', content: [prompt] }, 1);
        const block = { type: 'text', text: 'one: ' } as const;
        model.apply({ type: 'message_chunk', role: 'agent', messageId: 'x', block }, 1);
        const stored = { model, queue: [], draft: { text: '', revision: 0 }, attachments: [] };
        const { next, finish } = await killed(undefined, stored);
        const { done } = next.conversation.send('two');
        await noticeShown(next);
        finish();
        await done;
        assert.deepEqual(texts(next), ['one: done', 'two: done']);
        assert.deepEqual(notices(next), ['agent-still-works']);
        assert.equal(model.state.entries[1]?.kind, 'agent', 'the rest is part of the same message');
        const { history } = next.conversation.communication.descriptor ?? assert.fail();
        assert.equal(history.length, 4);
      });

      it('shows what the agent has asked since, and sends the next message as the answer', async () => {
        const { next, run, finish, asked } = await killed('Proceed?');
        finish();
        while ((await run()).status !== 'awaiting') await new Promise((resolve) => setImmediate(resolve));
        await next.conversation.start();
        assert.deepEqual(texts(next), ['Proceed?']);
        await next.conversation.send('yes, ').done;
        assert.deepEqual([asked, texts(next)], [['one'], ['Proceed?', 'yes, done']]);
      });

      it('stops that answer, not just the wait for it', async () => {
        const { next, asked } = await killed();
        const { done } = next.conversation.send('two');
        await noticeShown(next);
        await next.conversation.cancel();
        await done;
        await next.conversation.send('three').done;
        assert.deepEqual(asked, ['one', 'three']);
      });
    });

    it('is continued from elsewhere with its history', async () => {
      const [a, b] = [await serve(AGENTS), await serve(AGENTS)];
      const first = open(define(a.baseUrl, 'echo', { Authorization: TOKEN }), { remote: remoteFor(a) });
      await first.conversation.send('one').done;
      const descriptor = first.conversation.communication.descriptor ?? assert.fail();
      await first.close();
      const there = define(b.baseUrl, 'history_echo', { Authorization: TOKEN });
      const second = open(there, { remote: remoteFor(b) }, descriptor.id);
      second.conversation.communication.adopt(descriptor);
      await second.conversation.send('two').done;
      assert.deepEqual(texts(second), ['one', 'one', 'two']);
    });

    it('is reported lost if no server has it', async () => {
      const server = await serve(AGENTS);
      const agent = define(server.baseUrl, 'echo', { Authorization: TOKEN });
      const { conversation } = open(agent, { remote: remoteFor(server) }, mintId(), 'replay');
      await conversation.start();
      assert.equal(projectSession(conversation).error?.code, 'session-not-found');
    });

    it('starts over if its file is damaged', async () => {
      const descriptors = new Kept();
      descriptors.texts.set('test', '{"descriptor":{"id":"x","history":["file:///etc/passwd"]}}');
      const server = await serve(AGENTS);
      const agent = define(server.baseUrl, 'echo', { Authorization: TOKEN });
      const { conversation } = open(agent, { descriptors, remote: remoteFor(server) }, 'x-1');
      await conversation.send('hello').done;
      assert.notEqual(conversation.sessionId, 'x-1');
      assert.equal(conversation.communication.descriptor?.history.length, 2);
    });
  });
});
