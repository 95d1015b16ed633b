// Sessions that move between servers that behave like the original, with cancellations, failures
// and other clients.

import assert from 'node:assert/strict';
import { Deferred } from '../../../../src/base/deferred';
import { localize } from '../../../../src/base/localizable';
import { CommunicationClient } from '../../../../src/distributed/client/communicationClient';
import type { AgentEndpoint } from '../../../../src/distributed/client/communicationSession';
import { CONTINUE_RECORDED, CONTINUE_WITHOUT, SEND_TRANSCRIPT } from '../../../../src/distributed/client/deadLinks';
import type { HistoryLinks } from '../../../../src/distributed/fetch/historyLinks';
import { mintId } from '../../../../src/distributed/model/model';
import type { SessionEvent } from '../../../../src/session/events/event';
import { pluck } from '../../../support/pluck';
import { type OriginalServer, originalServer } from '../../../support/servers/originalServer';
import { textIn, userMessage } from '../../../support/servers/servedAgents';
import { answers, type Bench, begin, closeChats, notices, plainLinks, prompt } from './chatBench';

const signal = new AbortController().signal;
const at = ({ baseUrl }: OriginalServer): AgentEndpoint => ({
  client: new CommunicationClient({ baseUrl }),
  agentName: 'a',
});
const say = ({ session }: Bench, text: string) => session.send(prompt(text), signal);
const failureOf = (events: readonly SessionEvent[]) =>
  events.findLast((event): event is Extract<SessionEvent, { type: 'error' }> => event.type === 'error');

async function chat(options: Parameters<typeof begin>[1] = {}): Promise<{ a: OriginalServer; bench: Bench }> {
  const a = await originalServer();
  return { a, bench: begin(at(a), { now: Date.now, ...options }) };
}

async function stopped(server: OriginalServer, options: Parameters<typeof begin>[1] = {}): Promise<Bench> {
  const begun = new Deferred<void>();
  const events: SessionEvent[] = [];
  const bench = begin(at(server), {
    now: Date.now,
    ...options,
    emit: (event) => {
      events.push(event);
      if (event.type === 'message_chunk') begun.resolve();
    },
  });
  const sent = say(bench, 'stop');
  await begun.promise;
  await bench.session.cancel();
  assert.equal((await sent).stopReason, 'cancelled');
  return { ...bench, events };
}

describe('a session with servers that record only completed runs', () => {
  afterEach(closeChats);

  it('sends output of cancelled runs with the next prompt, and only links of servers', async () => {
    const [a, b] = [await originalServer(), await originalServer()];
    const bench = await stopped(a);
    await say(bench, 'two');
    assert.deepEqual(a.knew.at(-1), ['stop', 'I begin', 'two']);
    await bench.session.moveTo(at(b), signal);
    await say(bench, 'three');
    assert.deepEqual(b.knew, [['stop', 'I begin', 'two', 'I know 3', 'three']]);
    assert.deepEqual(
      b.links.flat().filter((url) => !url.startsWith(a.baseUrl)),
      [],
    );
    assert.deepEqual(bench.held(), []);
    assert.equal(bench.session.descriptor.history.length, 6);
  });

  it('sends messages of a failed run to the next server, in order and once', async () => {
    const [{ bench }, b] = [await chat(), await originalServer()];
    await say(bench, 'one');
    await say(bench, 'fail');
    await bench.session.moveTo(at(b), signal);
    await say(bench, 'two');
    await say(bench, 'three');
    assert.deepEqual(b.knew.at(-1), ['one', 'I know 1', 'fail', 'two', 'I know 4', 'three']);
    assert.deepEqual(bench.held(), []);
  });

  it('offers to continue without unrecorded messages if a run with them fails', async () => {
    const a = await originalServer();
    const bench = await stopped(a);
    await say(bench, 'fail');
    const { actions = [], hint } = failureOf(bench.events) ?? {};
    assert.deepEqual(
      actions.map(({ id, label }) => [id, localize(label)]),
      [[CONTINUE_RECORDED, 'Continue without 2 earlier messages']],
    );
    assert.match(localize(hint ?? ''), /No server has 2 earlier messages/);
    bench.session.carryOn(CONTINUE_RECORDED, () => []);
    await say(bench, 'two');
    assert.deepEqual(a.knew.at(-1), ['two']);
  });

  it('sends a prompt once if it is repeated after its run failed', async () => {
    const { a, bench } = await chat();
    await say(bench, 'fail');
    await say(bench, 'fail');
    assert.deepEqual(a.knew.at(-1), ['fail']);
    assert.deepEqual(bench.held().map(textIn), ['fail']);
  });

  it('sends the question and answer of a run with the next one', async () => {
    const { a, bench } = await chat();
    assert.equal((await say(bench, 'ask')).isAwaiting, true);
    await say(bench, 'the blue one');
    assert.deepEqual(answers(bench.events), ['Which one?', 'You said the blue one']);
    assert.deepEqual(bench.held().map(textIn), ['Which one?', 'the blue one']);
    await say(bench, 'go on');
    assert.deepEqual(a.knew.at(-1), ['ask', 'You said the blue one', 'Which one?', 'the blue one', 'go on']);
    assert.deepEqual(bench.held(), []);
  });

  it('does not mistake the turn of another client for its own', async () => {
    const a = await originalServer();
    let [isAnswered, hasOthers] = [false, false];
    const bench = begin(
      {
        client: new CommunicationClient({
          baseUrl: a.baseUrl,
          fetch: async (url, init) => {
            if (isAnswered) {
              isAnswered = false;
              const { id, history } = bench.session.descriptor;
              a.record(id, history, [userMessage('theirs'), { role: 'agent/a', parts: userMessage('for them').parts }]);
            }
            const response = await fetch(url, init);
            isAnswered = init.method === 'POST' && !hasOthers && String(init.body).includes('"ours"');
            hasOthers ||= isAnswered;
            return response;
          },
        }),
        agentName: 'a',
      },
      { now: Date.now },
    );
    await say(bench, 'one');
    await say(bench, 'ours');
    assert.deepEqual(bench.held().map(textIn), ['ours', 'I know 3']);
    assert.equal(notices(bench.events).at(-1), 'others-recorded');
    await say(bench, 'two');
    assert.deepEqual(a.knew.at(-1), ['one', 'I know 1', 'theirs', 'for them', 'ours', 'I know 3', 'two']);
    assert.deepEqual(bench.held(), []);
  });

  describe('of which one has lost its messages', () => {
    async function lost(only?: number): Promise<{ a: OriginalServer; b: OriginalServer; bench: Bench }> {
      const [a, b] = [await originalServer(), await originalServer()];
      const signed: HistoryLinks = { ...plainLinks, fresh: async (url) => `${url.split('?')[0]}?sig=secret` };
      const bench = begin(at(a), { now: Date.now, ...(only !== undefined && { links: signed }) });
      await say(bench, 'one');
      await say(bench, 'two');
      a.forgetMessages(only);
      await bench.session.moveTo(at(b), signal);
      assert.equal((await say(bench, 'three')).stopReason, 'error');
      return { a, b, bench };
    }

    it('names the dead link without its signature, and offers two actions', async () => {
      const { a, bench } = await lost(2);
      const { message, hint, actions = [] } = failureOf(bench.events) ?? assert.fail();
      assert.match(localize(message), /404 Not Found/);
      assert.match(
        localize(hint ?? ''),
        new RegExp(`^Message 2 of 4 can't be read from ${a.baseUrl}/resources/[^?]*\\?…: It is not there`),
      );
      assert.doesNotMatch(JSON.stringify(failureOf(bench.events)), /secret/);
      assert.deepEqual(
        actions.map(({ label }) => localize(label)),
        ['Continue without message 2', 'Send transcript instead'],
      );
    });

    it('finds the dead links itself if the server does not name them', async () => {
      const [{ a, bench }, b] = [await chat(), await originalServer()];
      await say(bench, 'one');
      await a.stop();
      await bench.session.moveTo(at(b), signal);
      await say(bench, 'three');
      const { message, actions = [], hint } = failureOf(bench.events) ?? assert.fail();
      assert.equal(message, 'All connection attempts failed');
      assert.equal(localize(actions[0]?.label ?? ''), 'Continue without 2 messages');
      assert.match(localize(hint ?? ''), /^2 of 2 messages can't be read: 1, 2\. The first is on http/);
      bench.session.carryOn(CONTINUE_WITHOUT, () => []);
      await say(bench, 'three');
      assert.deepEqual(b.knew, [['three']]);
    });
  });

  describe('of which one restarts with nothing in its memory', () => {
    async function restarted(links = plainLinks): Promise<{ a: OriginalServer; bench: Bench }> {
      const { a, bench } = await chat({ links });
      await say(bench, 'one');
      // Only this client has the run.
      await say(bench, 'fail');
      a.restart();
      assert.equal((await say(bench, 'two')).stopReason, 'error');
      return { a, bench };
    }

    it('offers actions that drop nothing that only this client has', async () => {
      const { a, bench } = await restarted();
      const { hint, message, actions = [] } = failureOf(bench.events) ?? assert.fail();
      assert.match(localize(message), /^Object at location .* not found/);
      assert.match(localize(hint ?? ''), /^2 of 2 messages can't be read: 1, 2\./);
      assert.deepEqual(pluck(actions, 'id'), [CONTINUE_WITHOUT, SEND_TRANSCRIPT]);
      bench.session.carryOn(CONTINUE_WITHOUT, () => []);
      await say(bench, 'two');
      assert.deepEqual(a.knew.at(-1), ['fail', 'two']);
      await say(bench, 'three');
      assert.deepEqual(a.knew.at(-1), ['fail', 'two', 'I know 2', 'three']);
    });

    it('trusts the server if its links may not be requested from here', async () => {
      const { bench } = await restarted({ ...plainLinks, whyUnreadable: async () => undefined });
      const { hint, actions = [] } = failureOf(bench.events) ?? assert.fail();
      assert.match(localize(hint ?? ''), /^Message 1 of 2 can't be read from http/);
      assert.deepEqual(pluck(actions, 'id'), [CONTINUE_WITHOUT, SEND_TRANSCRIPT]);
    });

    it('offers no action if the run fails and every link works', async () => {
      const { bench } = await chat();
      await say(bench, 'one');
      await say(bench, 'fail');
      assert.deepEqual(failureOf(bench.events)?.actions, undefined);
    });
  });

  it('sends messages instead of links that the server cannot read, and re-signs the others', async () => {
    const [old, a] = [await originalServer(), await originalServer()];
    const id = mintId();
    old.record(id, [], ['first', 'second', 'third', 'fourth'].map(userMessage));
    const { history } = old.session(id) ?? assert.fail();
    const links: HistoryLinks = {
      ...plainLinks,
      fresh: async (url) => (url === history[2] ? undefined : `${url}?sig=today`),
    };
    const bench = begin(at(a), { now: Date.now, links, descriptor: { id, history } });
    await say(bench, 'fifth');
    assert.deepEqual(a.knew, [['first', 'second', 'third', 'fourth', 'fifth']]);
    assert.deepEqual(a.links, [history.slice(0, 2).map((url) => `${url}?sig=today`)]);
    assert.equal(bench.session.descriptor.history.length, 6);
    // The old server's messages are not a branch.
    await bench.session.moveTo(at(old), signal);
    await say(bench, 'sixth');
    assert.equal(old.knew.at(-1)?.length, 7);
    assert.deepEqual(notices(bench.events), []);
  });

  it('keeps a state that the server cannot read, without linking to it', async () => {
    const a = await originalServer();
    const state = 'http://127.0.0.1:9/resources/state';
    const fresh: HistoryLinks['fresh'] = async (url) => (url === state ? undefined : url);
    const descriptor = { id: mintId(), history: [], state };
    const bench = begin(at(a), { now: Date.now, links: { ...plainLinks, fresh }, descriptor });
    await say(bench, 'one');
    await say(bench, 'two');
    const bodies = a.requests.flatMap(
      ({ body }) => (body as { session?: { state?: string } } | undefined)?.session ?? [],
    );
    assert.ok(bodies.length > 0 && bodies.every((session) => session.state === undefined));
    assert.equal(bench.session.descriptor.state, state);
    assert.deepEqual(notices(bench.events), ['state-stays']);
  });

  it('drops the oldest messages of a too large request, and reports it', async () => {
    const a = await originalServer();
    const held = ['a', 'b', 'c', 'd'].map((letter) => ({ message: userMessage(letter.repeat(4_500_000)), turn: 0 }));
    const past = { descriptor: { id: mintId(), history: [] }, held };
    const bench = begin(at(a), { now: Date.now, past });
    await say(bench, 'go');
    assert.deepEqual(
      a.knew[0]?.map((text) => text.slice(0, 30)),
      ['[1 earlier message left out]', 'b'.repeat(30), 'c'.repeat(30), 'd'.repeat(30), 'go'],
    );
    assert.equal(notices(bench.events)[0], 'left-out');
  });

  it('holds the output of a run whose connection was lost', async () => {
    const a = await originalServer();
    const begun = new Deferred<void>();
    const bench = begin(at(a), { now: Date.now, emit: (event) => event.type === 'message_chunk' && begun.resolve() });
    const sent = say(bench, 'stop');
    await begun.promise;
    const { port } = new URL(a.baseUrl);
    await a.stop();
    await assert.rejects(sent, { code: 'run-lost' });
    assert.deepEqual(bench.held().map(textIn), ['stop', 'I begin']);
    const again = await originalServer(Number(port));
    await say(bench, 'go on');
    assert.deepEqual(again.knew.at(-1), ['stop', 'I begin', 'go on']);
  });
});
