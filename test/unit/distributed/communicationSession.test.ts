// Chat sessions with HTTP agents: questions, stops, and sessions that move between servers that forget, fail and disagree.
import assert from 'node:assert/strict';
import { Deferred } from '../../../src/base/deferred';
import { CommunicationClient } from '../../../src/distributed/communicationClient';
import {
  type AgentPlace,
  CommunicationSession,
  type CommunicationSessionOptions,
} from '../../../src/distributed/communicationSession';
import type { Fork } from '../../../src/distributed/handOver';
import { type Message, mintId, type SessionDescriptor } from '../../../src/distributed/model';
import { mintToken } from '../../../src/distributed/serverAuth';
import type { SessionEvent } from '../../../src/session/event';
import { removeScratch } from '../../support/scratch';
import {
  awaiting,
  echo,
  endless,
  failing,
  fetchPast,
  historyEcho,
  type RunningServer,
  serve,
  stopServers,
  textIn,
} from '../../support/servedAgents';
import { json, type StubRequest, type StubServer, sse, stopStubs, stubServer } from '../../support/stubServer';

const signal = new AbortController().signal;
const AGENTS = [echo, awaiting, endless, failing, historyEcho];

interface Bench {
  readonly session: CommunicationSession;
  readonly events: SessionEvent[];
  readonly kept: Message[];
  readonly forks: Fork[];
}

function begin(place: AgentPlace, options: Partial<CommunicationSessionOptions> = {}): Bench {
  const events: SessionEvent[] = [];
  const kept: Message[] = [];
  const forks: Fork[] = [];
  const session = new CommunicationSession({
    place,
    descriptor: { id: mintId(), history: [] },
    emit: (event) => events.push(event),
    recorder: {
      record: async (message) => {
        kept.push(message);
        return `http://own.test/${kept.length}`;
      },
    },
    onDidFork: (fork) => forks.push(fork),
    now: () => 0,
    follow: { retryMs: [1, 1], pollMs: 1 },
    ...options,
  });
  return { session, events, kept, forks };
}

const at = ({ client }: { client: CommunicationClient }, agentName: string): AgentPlace => ({ client, agentName });
const prompt = (text: string) => [{ type: 'text' as const, text }];

/** Messages of the agent, one text each, in order of their appearance. */
function answers(events: readonly SessionEvent[]): string[] {
  const byId = new Map<string, string>();
  for (const event of events) {
    if (event.type !== 'message_chunk' || event.block.type !== 'text') continue;
    const id = event.messageId ?? '';
    byId.set(id, (byId.get(id) ?? '') + event.block.text);
  }
  return [...byId.values()];
}

const notices = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === 'notice' ? [event.title] : []));

async function pastOf({ history }: SessionDescriptor): Promise<string[]> {
  const past = await fetchPast(history, signal);
  return past.map((entry) => (entry.kind === 'message' ? textIn(entry.message) : `[${entry.reason}]`));
}

const messagesIn = async ({ store }: RunningServer) => (await store.list('sessions/', signal)).length;

/** A server that answers every run with one word, and does with sessions what the test says. */
async function oneWordServer(
  session: (request: StubRequest) => SessionDescriptor | undefined,
  end: 'completed' | 'failed' = 'completed',
): Promise<{
  stub: StubServer;
  place: AgentPlace;
  bodies: () => { session?: SessionDescriptor; session_id?: string }[];
}> {
  const stub = await stubServer((request, response) => {
    if (request.method === 'GET') {
      const found = session(request);
      if (found) json(response, 200, found);
      else json(response, 404, { code: 'not_found', message: 'Session not found' });
      return;
    }
    const run = {
      run_id: mintId(),
      agent_name: 'a',
      status: end,
      output: [{ role: 'agent/a', parts: [{ content: 'word' }] }],
    };
    const error = end === 'failed' ? { code: 'server_error', message: 'broke' } : null;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(sse([{ type: `run.${end}`, run: { ...run, error } }]));
  });
  return {
    stub,
    place: { client: new CommunicationClient({ baseUrl: stub.baseUrl }), agentName: 'a' },
    bodies: () => stub.requests.flatMap(({ body }) => (body === undefined ? [] : [body as { session_id?: string }])),
  };
}

describe('a chat with an HTTP agent', () => {
  afterEach(async () => {
    await stopServers();
    await stopStubs();
    await removeScratch();
  });

  it('shows the answer, and has both messages in its descriptor', async () => {
    const { session, events } = begin(at(await serve(AGENTS), 'echo'));
    assert.deepEqual(await session.send(prompt('hello'), signal), { stopReason: 'end_turn', isAwaiting: false });
    assert.deepEqual(answers(events), ['hello']);
    assert.deepEqual(await pastOf(session.descriptor), ['hello', 'hello']);
  });

  it('asks the question of the agent and takes the next prompt as the answer', async () => {
    const { session, events } = begin(at(await serve(AGENTS), 'awaiting'));
    assert.deepEqual(await session.send(prompt('go'), signal), { stopReason: 'end_turn', isAwaiting: true });
    assert.deepEqual(answers(events), ['Proceed?']);
    assert.equal(session.isAwaiting, true);
    assert.deepEqual(await session.send(prompt('yes'), signal), { stopReason: 'end_turn', isAwaiting: false });
    assert.deepEqual(answers(events), ['Proceed?', 'resumed with: yes']);
    assert.equal(session.descriptor.history.length, 2);
  });

  it('withdraws a question that the user stops, and begins anew with the next prompt', async () => {
    const running = await serve(AGENTS);
    const { session } = begin(at(running, 'awaiting'));
    await session.send(prompt('go'), signal);
    await session.cancel();
    assert.equal(session.isAwaiting, false);
    assert.equal((await session.send(prompt('go again'), signal)).isAwaiting, true);
  });

  it('still has the question when the answer did not reach the server', async () => {
    const running = await serve(AGENTS);
    let isDown = false;
    const client = new CommunicationClient({
      baseUrl: running.baseUrl,
      headers: () => ({ authorization: `Bearer ${running.token}` }),
      fetch: (url, init) => (isDown ? Promise.reject(new TypeError('fetch failed')) : fetch(url, init)),
    });
    const { session, events } = begin({ client, agentName: 'awaiting' });
    await session.send(prompt('go'), signal);
    isDown = true;
    await assert.rejects(session.send(prompt('yes'), signal), { code: 'agent-server-unreachable' });
    assert.equal(session.isAwaiting, true);
    isDown = false;
    await session.send(prompt('yes'), signal);
    assert.equal(answers(events).at(-1), 'resumed with: yes');
  });

  it('stops the agent on the server and keeps what it said', async () => {
    const running = await serve(AGENTS);
    const heard = new Deferred<void>();
    const bench = begin(at(running, 'endless'), {
      emit: (event) => {
        events.push(event);
        heard.resolve();
      },
    });
    const events: SessionEvent[] = [];
    const sent = bench.session.send(prompt('go'), signal);
    await heard.promise;
    await assert.rejects(bench.session.send(prompt('too early'), signal), { code: 'session-busy' });
    await bench.session.cancel();
    assert.deepEqual(await sent, { stopReason: 'cancelled', isAwaiting: false });
    assert.deepEqual(answers(events), ['a ']);
    assert.deepEqual(await pastOf(bench.session.descriptor), ['go', 'a ']);
  });

  it('stops at once where the server has not even named the run', async () => {
    const asked = new Deferred<void>();
    const stub = await stubServer(() => asked.resolve());
    const { session } = begin({ client: new CommunicationClient({ baseUrl: stub.baseUrl }), agentName: 'a' });
    const sent = session.send(prompt('go'), signal);
    await asked.promise;
    await session.cancel();
    assert.deepEqual(await sent, { stopReason: 'cancelled', isAwaiting: false });
  });

  it('stops waiting for a run that goes on after it was told to stop', async () => {
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

  it('reports an agent that fails, and keeps the turn in the session', async () => {
    const { session, events } = begin(at(await serve(AGENTS), 'failing'));
    assert.equal((await session.send(prompt('x'), signal)).stopReason, 'error');
    assert.deepEqual(events.at(-1), { type: 'error', code: 'agent-error invalid_input', message: 'bad input' });
    assert.deepEqual(await pastOf(session.descriptor), ['x', 'partial']);
  });

  describe('that moves between servers', () => {
    it('takes everything along from A to B and back, and each server stores only what is new', async () => {
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

    it('loses nothing when the old server is down, not even on the second try', async () => {
      const a = await serve(AGENTS);
      const { session } = begin(at(a, 'echo'));
      await session.send(prompt('one'), signal);
      const before = session.descriptor.history;
      await a.server.stop();
      await assert.rejects(session.send(prompt('lost?'), signal), { code: 'agent-server-unreachable' });
      const word = await oneWordServer(() => undefined);
      let isDown = true;
      const client = new CommunicationClient({
        baseUrl: word.stub.baseUrl,
        fetch: (url, init) => (isDown ? Promise.reject(new TypeError('fetch failed')) : fetch(url, init)),
      });
      await session.moveTo({ client, agentName: 'a' }, signal);
      await assert.rejects(session.send(prompt('two'), signal), { code: 'agent-server-unreachable' });
      isDown = false;
      await session.send(prompt('three'), signal);
      const [body] = word.bodies();
      assert.equal(body?.session_id, undefined);
      // The prompts that never got an answer are part of the session, in a place of the user's own.
      assert.deepEqual(body?.session?.history, [...before, 'http://own.test/2', 'http://own.test/3']);
    });

    it('names the session alone only to a server that has answered a run of it', async () => {
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

    it('sends everything again after an error, even to a server that seems to have it all', async () => {
      let isDown = false;
      const word = await oneWordServer(({ path }) => ({
        id: path.split('/').at(-1) ?? '',
        history: ['http://server.test/1'],
      }));
      const client = new CommunicationClient({
        baseUrl: word.stub.baseUrl,
        fetch: (url, init) =>
          isDown && init.method === 'POST' ? Promise.reject(new TypeError('fetch failed')) : fetch(url, init),
      });
      const recorder = { record: () => Promise.reject(new Error('none')) };
      const { session } = begin({ client, agentName: 'a' }, { recorder });
      await session.send(prompt('one'), signal);
      isDown = true;
      await assert.rejects(session.send(prompt('two'), signal), { code: 'agent-server-unreachable' });
      isDown = false;
      await session.send(prompt('three'), signal);
      assert.deepEqual(word.bodies()[1]?.session?.history, ['http://server.test/1']);
    });

    it('sends everything again to a server that forgot the session, and says so', async () => {
      const token = mintToken();
      const a = await serve(AGENTS, { token });
      const { session, events } = begin(at(a, 'echo'));
      await session.send(prompt('one'), signal);
      await a.server.stop();
      const again = await serve(AGENTS, { token }, Number(new URL(a.baseUrl).port));
      await session.send(prompt('two'), signal);
      const { history } = await again.client.session(session.descriptor.id, signal);
      assert.deepEqual(history, session.descriptor.history);
      assert.equal(history.length, 4);
      assert.match(notices(events)[0] ?? '', /no longer has this session/);
    });

    it('tells the user when a server answered without the past, and keeps both', async () => {
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
      assert.match(notices(events)[0] ?? '', /answered without the earlier 2 messages/);
      assert.deepEqual(
        session.descriptor.history,
        [1, 2, 3, 4].map((name) => `http://server.test/${name}`),
      );
      await session.send(prompt('three'), signal);
      assert.ok(word.bodies()[2]?.session);
    });

    it('takes over what another client added on the server', async () => {
      const a = await serve(AGENTS);
      const first = begin(at(a, 'history_echo'));
      await first.session.send(prompt('one'), signal);
      const other = begin(at(a, 'echo'), { descriptor: first.session.descriptor });
      await other.session.send(prompt('elsewhere'), signal);
      await first.session.send(prompt('two'), signal);
      assert.deepEqual(answers(first.events).slice(1), ['one', 'one', 'elsewhere', 'elsewhere', 'two']);
      assert.match(notices(first.events)[0] ?? '', /had 2 more messages/);
    });

    it('asks which branch to go on with when two clients went on from the same past', async () => {
      const a = await serve(AGENTS);
      const start = begin(at(a, 'echo'));
      await start.session.send(prompt('one'), signal);
      const { descriptor } = start.session;
      const other = begin(at(a, 'echo'), { descriptor });
      await start.session.send(prompt('here'), signal);
      await other.session.send(prompt('there'), signal);
      const ours = start.session.descriptor.history;
      assert.deepEqual(
        a.server.forks(descriptor.id).map(({ history }) => history.length),
        [4],
      );
      await start.session.send(prompt('go on'), signal);
      assert.deepEqual(
        start.forks.map(({ common, theirs }) => [common, theirs.history.length]),
        [[2, 4]],
      );
      assert.deepEqual(start.session.descriptor.history.slice(0, 4), ours);
      assert.match(notices(start.events)[0] ?? '', /another branch/);
    });

    it('goes on with the branch of the server where the user prefers it', async () => {
      const a = await serve(AGENTS);
      const start = begin(at(a, 'echo'));
      await start.session.send(prompt('one'), signal);
      const { descriptor } = start.session;
      const asked: Fork[] = [];
      const chooseBranch = async (fork: Fork) => {
        asked.push(fork);
        return 'theirs' as const;
      };
      const chooser = begin(at(a, 'echo'), { descriptor, chooseBranch });
      await chooser.session.send(prompt('here'), signal);
      await start.session.send(prompt('there'), signal);
      await chooser.session.moveTo(at(await serve(AGENTS), 'history_echo'), signal);
      assert.deepEqual(asked.length, 0, 'the server had only more of the same');
      const other = begin(at(a, 'echo'), { descriptor });
      await other.session.send(prompt('elsewhere'), signal);
      const theirs = other.session.descriptor.history;
      const last = begin(at(a, 'echo'), { descriptor: chooser.session.descriptor, chooseBranch });
      await last.session.send(prompt('mine'), signal);
      await begin(at(a, 'echo'), { descriptor: other.session.descriptor }).session.send(prompt('again'), signal);
      await last.session.send(prompt('go on'), signal);
      assert.equal(asked.length, 1);
      assert.deepEqual(last.session.descriptor.history.slice(0, theirs.length), theirs);
      assert.equal(last.session.descriptor.history.length, theirs.length + 4);
    });

    it('records a failed turn itself where the server does not, and gives it to the next run', async () => {
      const word = await oneWordServer(({ path }) => ({ id: path.split('/').at(-1) ?? '', history: [] }), 'failed');
      const { session, kept, events } = begin(word.place);
      assert.equal((await session.send(prompt('one'), signal)).stopReason, 'error');
      assert.deepEqual(kept.map(textIn), ['one', 'word']);
      assert.deepEqual(session.descriptor.history, ['http://own.test/1', 'http://own.test/2']);
      await session.send(prompt('two'), signal);
      assert.deepEqual(word.bodies()[1]?.session?.history, ['http://own.test/1', 'http://own.test/2']);
      assert.deepEqual(notices(events), []);
    });

    it('writes the prompt before it is sent', async () => {
      const order: string[] = [];
      const word = await stubServer((_request, response) => {
        order.push('request');
        response.destroy();
      });
      const { session } = begin(
        { client: new CommunicationClient({ baseUrl: word.baseUrl }), agentName: 'a' },
        {
          recorder: {
            record: async () => {
              order.push('record');
              return 'http://own.test/1';
            },
          },
        },
      );
      await assert.rejects(session.send(prompt('x'), signal));
      assert.equal(order[0], 'record');
    });

    it('goes on when nothing can be recorded', async () => {
      const { session, events } = begin(at(await serve(AGENTS), 'echo'), {
        recorder: { record: () => Promise.reject(new Error('disk full')) },
      });
      await session.send(prompt('x'), signal);
      assert.deepEqual(answers(events), ['x']);
    });
  });

  it('forwards a state that it does not understand, until a server has a newer one', async () => {
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
