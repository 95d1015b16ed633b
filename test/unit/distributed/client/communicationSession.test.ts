// Chat sessions with HTTP agents: questions, cancellation, and moves between servers that forget,
// fail and disagree.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deferred } from '../../../../src/base/deferred';
import { CommunicationClient } from '../../../../src/distributed/client/communicationClient';
import { mintId } from '../../../../src/distributed/model/model';
import { serve } from '../../../support/servers/servedAgents';
import { json, sse, stubServer } from '../../../support/servers/stubServer';
import { AGENTS, answers, at, begin, closeChats, flakyClient, oneWordServer, pastOf, prompt } from './chatBench';

const signal = new AbortController().signal;

describe('a chat with an HTTP agent', () => {
  afterEach(closeChats);

  it('shows no output of a run before its id is saved for the next window', async () => {
    const { session, events } = begin(at(await serve(AGENTS), 'echo'), {
      keep: async () => {
        if (session.running === undefined || session.running === true) return;
        // Longer than the rest of the run.
        await sleep(100);
        kept.push(answers(events));
      },
    });
    const kept: (readonly string[])[] = [];
    await session.send(prompt('hello'), signal);
    assert.deepEqual(kept, [[]]);
    assert.deepEqual(answers(events), ['hello']);
  });

  it('keeps the question if the answer did not reach the server', async () => {
    const flaky = flakyClient(await serve(AGENTS));
    const { session, events } = begin(at(flaky, 'awaiting'));
    await session.send(prompt('go'), signal);
    flaky.isDown = true;
    await assert.rejects(session.send(prompt('yes'), signal), { code: 'agent-server-unreachable' });
    assert.equal(session.isAwaiting, true);
    flaky.isDown = false;
    await session.send(prompt('yes'), signal);
    assert.equal(answers(events).at(-1), 'resumed with: yes');
  });

  it('holds an undelivered message only once, however often it is sent', async () => {
    const flaky = flakyClient(await serve(AGENTS));
    const { session } = begin(at(flaky, 'echo'));
    const message = 'Transfer 100 EUR to Ann.';
    flaky.isDown = true;
    for (let attempt = 0; attempt < 2; attempt++)
      await assert.rejects(session.send(prompt(message), signal), { code: 'agent-server-unreachable' });
    flaky.isDown = false;
    await session.send(prompt(message), signal);
    assert.equal(flaky.posts.length, 1);
    assert.deepEqual((JSON.parse(flaky.posts[0] ?? '') as { session: { history: string[] } }).session.history, []);
    assert.deepEqual(await pastOf(session.descriptor), [message, message], 'said and echoed');
  });

  it('stops immediately if the server has not named the run yet', async () => {
    const asked = new Deferred<void>();
    const stub = await stubServer(() => asked.resolve());
    const { session } = begin({ client: new CommunicationClient({ baseUrl: stub.baseUrl }), agentName: 'a' });
    const sent = session.send(prompt('go'), signal);
    await asked.promise;
    await session.cancel();
    assert.deepEqual(await sent, { stopReason: 'cancelled', isAwaiting: false });
  });

  it('stops waiting for a run that ignores its cancellation', async () => {
    const id = mintId();
    const heard = new Deferred<void>();
    const run = { run_id: id, agent_name: 'a', status: 'in-progress', output: [] };
    const stub = await stubServer(({ method, path }, response) => {
      if (path.endsWith('/cancel')) json(response, 202, { ...run, status: 'cancelling' });
      else if (method === 'GET') json(response, 200, run);
      else {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'run-id': id });
        response.write(sse([{ type: 'message.part', part: { content: 'x' } }]));
      }
    });
    const { session } = begin(
      { client: new CommunicationClient({ baseUrl: stub.baseUrl }), agentName: 'a' },
      { stopMs: 10, emit: () => heard.resolve() },
    );
    const sent = session.send(prompt('go'), signal);
    await heard.promise;
    await session.cancel();
    assert.equal((await sent).stopReason, 'cancelled');
  });

  it('sends the next message once the user stops an endless run of a killed window', async () => {
    const old = { run_id: mintId(), agent_name: 'a', status: 'in-progress', output: [] };
    const stub = await stubServer(({ method, path }, response) => {
      if (path.endsWith('/cancel')) json(response, 202, { ...old, status: 'cancelling' });
      else if (path.startsWith('/runs/')) json(response, 200, old);
      else if (method === 'GET') json(response, 404, { code: 'not_found', message: 'Session not found' });
      else json(response, 200, { ...old, run_id: mintId(), status: 'completed' });
    });
    const begun = (): number =>
      stub.requests.filter(({ method, path }) => method === 'POST' && path === '/runs').length;
    const waits = new Deferred<void>();
    const client = new CommunicationClient({ baseUrl: stub.baseUrl });
    const { session } = begin(
      { client, agentName: 'a' },
      { visited: [client.origin], stopMs: 5, lookMs: 5, emit: ({ type }) => type === 'notice' && waits.resolve() },
    );
    session.missedEnd(undefined, old.run_id);
    const recorder = { has: async () => false, record: async () => assert.fail('nothing is held') };
    assert.equal((await session.handOut(recorder, signal)).history.length, 0, 'handing out does not wait for ever');
    const sent = session.send(prompt('one'), signal);
    await waits.promise;
    await session.cancel();
    assert.deepEqual([(await sent).stopReason, begun()], ['cancelled', 0]);
    assert.deepEqual([(await session.send(prompt('two'), signal)).stopReason, begun()], ['end_turn', 1]);
  });

  it('forwards an opaque state until a server has a newer one', async () => {
    const states = ['http://server.test/state-1', undefined];
    const word = await oneWordServer(({ path }) => {
      const state = states.shift();
      return { id: path.split('/').at(-1) ?? '', history: ['http://server.test/1'], ...(state && { state }) };
    });
    const { session } = begin(word.place, {
      descriptor: { id: mintId(), history: [], state: 'http://old.test/state' },
    });
    await session.send(prompt('one'), signal);
    assert.equal(word.bodies()[0]?.session?.state, 'http://old.test/state');
    await session.send(prompt('two'), signal);
    assert.equal(session.descriptor.state, 'http://server.test/state-1');
  });
});
