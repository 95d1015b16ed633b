// Conversations with HTTP agents of the Agent Communication Protocol: our own server and servers that break off, refuse and answer oddly.
import { strict as assert } from 'node:assert';
import { type AgentDefinition, parseAgents } from '../../../src/agents/agentDefinition';
import { Deferred } from '../../../src/base/deferred';
import type { DescriptorPort } from '../../../src/client/communicationRecord';
import { phaseOf, projectSession } from '../../../src/client/projectSession';
import type { ConversationServices } from '../../../src/client/services';
import { snapshotOf } from '../../../src/client/snapshot';
import { mintId, textPart } from '../../../src/distributed/model';
import type { ContentBlock } from '../../../src/session/content';
import { type TestConversation, testConversation } from '../../support/conversation';
import { recordedExchanges } from '../../support/recordedExchanges';
import { removeScratch, scratchFolder } from '../../support/scratch';
import {
  agentOf,
  artifact,
  awaiting,
  echo,
  endless,
  failing,
  historyEcho,
  part,
  type RunningServer,
  serve,
  slowWords,
  stopServers,
} from '../../support/servedAgents';
import { json, sse, stopStubs, stubServer } from '../../support/stubServer';

const rich = agentOf('rich', async (_input, out) => {
  out.part(part({ metadata: { kind: 'trajectory', message: 'Looking' } }));
  out.part(
    part({ metadata: { kind: 'trajectory', tool_name: 'search', tool_input: { q: 'x' }, tool_output: '3 hits' } }),
  );
  out.part(textPart('Found it.'));
  out.part(part({ content: '', metadata: { kind: 'citation', url: 'https://example.com/a', title: 'A source' } }));
});
const AGENTS = [echo, awaiting, failing, artifact, endless, historyEcho, slowWords, rich];
// What the settings would hold.
const TOKEN = 'Bearer $\u007bsecret:token}';

/** What is kept of conversations, and how to look at it. */
class Kept implements DescriptorPort {
  readonly texts = new Map<string, string>();
  async read(key: string): Promise<string | undefined> {
    return this.texts.get(key);
  }
  async write(key: string, text: string): Promise<void> {
    this.texts.set(key, text);
  }
}

describe('an HTTP agent in the panel', function () {
  this.timeout(20_000);
  let session: TestConversation | undefined;
  let folder: string;

  beforeEach(async () => {
    folder = await scratchFolder();
  });
  afterEach(async () => {
    await session?.close();
    session = undefined;
    await stopServers();
    await stopStubs();
    await removeScratch();
  });

  const define = (url: string, agent: string, headers: Record<string, string> = {}): AgentDefinition => {
    const [parsed] = parseAgents({ far: { type: 'communication', name: 'Far', url, agent, headers } }).agents;
    assert.ok(parsed);
    return parsed;
  };
  /** Secrets of servers, by their origins. */
  const remoteFor = (...servers: readonly RunningServer[]): NonNullable<ConversationServices['remote']> => ({
    secret: async (origin) => servers.find(({ baseUrl }) => new URL(baseUrl).origin === origin)?.token,
    allowCleartext: async () => false,
  });
  function open(
    agent: AgentDefinition,
    services: Partial<ConversationServices> = {},
    sessionId?: string,
  ): TestConversation {
    session = testConversation({
      agent,
      cwd: folder,
      services: { follow: { retryMs: [1, 1], pollMs: 1 }, ...services },
      ...(sessionId !== undefined && { opening: { kind: 'reopen', sessionId, transcript: 'keep' } }),
    });
    return session;
  }
  async function openServed(
    name: string,
    services: Partial<ConversationServices> = {},
  ): Promise<TestConversation & { readonly server: RunningServer }> {
    const server = await serve(AGENTS);
    const opened = open(define(server.baseUrl, name, { Authorization: TOKEN }), {
      remote: remoteFor(server),
      ...services,
    });
    return { ...opened, server };
  }
  const texts = ({ conversation }: TestConversation): string[] =>
    snapshotOf(conversation)
      .entries.filter(({ kind }) => kind === 'agent')
      .map(({ text = '' }) => text);
  const contentOf = ({ conversation }: TestConversation): readonly ContentBlock[] => {
    const answer = conversation.model.state.entries.find(({ kind }) => kind === 'agent');
    return answer?.kind === 'agent' ? answer.content : [];
  };
  const notices = ({ conversation }: TestConversation): string[] =>
    conversation.model.state.entries.flatMap((entry) => (entry.kind === 'notice' ? [entry.title] : []));

  it('is not there, or asks a server for more than it must before the first message', async () => {
    const opened = await openServed('echo');
    const { conversation } = opened;
    const { stopReason } = await conversation.send('hello').done;
    assert.equal(stopReason, 'end_turn');
    assert.deepEqual(texts(opened), ['hello']);
    const { protocol, sessionId } = snapshotOf(conversation);
    assert.equal(protocol, 'communication');
    assert.equal(sessionId, conversation.communication.descriptor?.id);
    assert.equal(conversation.communication.descriptor?.history.length, 2);
    assert.deepEqual(
      conversation.stages.view.map(({ name, state }) => `${name} ${state}`),
      ['resolve done', 'connect done', 'initialize done', 'session done', 'ready skipped'],
    );
  });

  it('streams into nothing, or shows its words in another order', async () => {
    const opened = await openServed('slow_words');
    await opened.conversation.send('go').done;
    assert.deepEqual(texts(opened), ['a b ']);
  });

  it('hides what it did, made and quoted', async () => {
    const opened = await openServed('rich');
    await opened.conversation.send('go').done;
    const { entries } = opened.conversation.model.state;
    const kinds = entries.filter(({ kind }) => kind !== 'user' && kind !== 'turn_end').map(({ kind }) => kind);
    assert.deepEqual(kinds, ['thought', 'tool', 'agent']);
    const tool = entries.find((entry) => entry.kind === 'tool');
    assert.deepEqual(tool && [tool.title, tool.status], ['search', 'completed']);
    assert.deepEqual(
      contentOf(opened).map((block) => (block.type === 'resource_link' ? block.uri : block.type)),
      ['text', 'https://example.com/a'],
    );
  });

  it('loses the files that it makes', async () => {
    const opened = await openServed('artifact');
    await opened.conversation.send('go').done;
    const file = contentOf(opened).find((block) => block.type === 'resource');
    assert.equal(file?.type === 'resource' && file.uri.endsWith('a.txt'), true);
  });

  it('fails without a word of why', async () => {
    const opened = await openServed('failing');
    assert.equal((await opened.conversation.send('go').done).stopReason, 'error');
    assert.deepEqual(texts(opened), ['partial']);
    const error = opened.conversation.model.state.entries.find((entry) => entry.kind === 'error');
    assert.equal(error?.text, 'bad input');
  });

  describe('that asks something', () => {
    it('waits for ever, or takes the answer for a new message', async () => {
      const opened = await openServed('awaiting');
      const { conversation } = opened;
      assert.equal((await conversation.send('go').done).stopReason, 'end_turn');
      assert.deepEqual(texts(opened), ['Proceed?']);
      assert.deepEqual(notices(opened), ['The agent waits for you']);
      assert.equal(phaseOf(conversation), 'requiresAction');
      await conversation.send('yes').done;
      assert.deepEqual(texts(opened), ['Proceed?', 'resumed with: yes']);
      assert.equal(phaseOf(conversation), 'ready');
      assert.equal(conversation.communication.descriptor?.history.length, 2);
    });

    it('gets a queued message for an answer that was written before the question', async () => {
      const opened = await openServed('awaiting');
      const { conversation } = opened;
      const first = conversation.send('go');
      const second = conversation.send('and then delete everything');
      await first.done;
      assert.equal(conversation.queue.paused, 'the agent asks something first');
      assert.deepEqual(texts(opened), ['Proceed?']);
      await conversation.send('no').done;
      assert.deepEqual(texts(opened), ['Proceed?', 'resumed with: no']);
      conversation.sendNow(second.id);
      await second.done;
      assert.deepEqual(texts(opened), ['Proceed?', 'resumed with: no', 'Proceed?']);
    });

    it('forgets the question with a restart', async () => {
      const opened = await openServed('awaiting');
      const { conversation } = opened;
      await conversation.send('go').done;
      await conversation.restart();
      assert.equal(phaseOf(conversation), 'requiresAction');
      await conversation.send('yes').done;
      assert.deepEqual(texts(opened), ['Proceed?', 'resumed with: yes']);
    });

    it('goes on asking after Stop', async () => {
      const opened = await openServed('awaiting');
      const { conversation, until } = opened;
      await conversation.send('go').done;
      conversation.cancel();
      await until(() => notices(opened).at(-1) === 'The question was withdrawn');
      assert.equal(phaseOf(conversation), 'ready');
      await conversation.send('go again').done;
      assert.deepEqual(texts(opened), ['Proceed?', 'Proceed?']);
    });

    it('forgets the question with the window', async () => {
      const descriptors = new Kept();
      const { conversation, server } = await openServed('awaiting', { descriptors });
      await conversation.send('go').done;
      const { sessionId } = conversation;
      await conversation.close();
      const again = open(
        define(server.baseUrl, 'awaiting', { Authorization: TOKEN }),
        { descriptors, remote: remoteFor(server) },
        sessionId,
      );
      await again.conversation.start();
      assert.equal(phaseOf(again.conversation), 'requiresAction');
      await again.conversation.send('yes').done;
      assert.deepEqual(texts(again), ['resumed with: yes']);
      assert.equal(again.conversation.communication.descriptor?.id, sessionId);
      assert.equal(again.conversation.communication.descriptor?.history.length, 2);
    });
  });

  it('goes on working after Stop, or takes back what it said', async () => {
    const opened = await openServed('endless');
    const { conversation, until } = opened;
    const { done } = conversation.send('go');
    await until((one) => one.model.state.entries.some(({ kind }) => kind === 'agent'));
    conversation.cancel();
    assert.equal((await done).stopReason, 'cancelled');
    assert.deepEqual(texts(opened), ['a ']);
    assert.equal(phaseOf(conversation), 'ready');
  });

  it('works on for nobody when its conversation is closed', async () => {
    const stopped = new Deferred<void>();
    const runs = agentOf('runs', async (_input, out, _context, signal) => {
      out.part(textPart('begun'));
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const watched = {
      ...runs,
      run: (...args: Parameters<typeof runs.run>) => runs.run(...args).finally(() => stopped.resolve()),
    };
    const server = await serve([watched]);
    const { conversation, until } = open(define(server.baseUrl, 'runs', { Authorization: TOKEN }), {
      remote: remoteFor(server),
    });
    conversation.send('go').done.catch(() => {});
    await until((one) => one.model.state.entries.some(({ kind }) => kind === 'agent'));
    await conversation.close();
    await stopped.promise;
  });

  describe('whose session goes on', () => {
    it('begins anew after a restart, though the session is the client’s own', async () => {
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

    it('stays behind when the address of the agent is another one', async () => {
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
      assert.deepEqual(notices(opened), [`The session moved to history_echo at ${b.baseUrl}`]);
      const { id, history } = conversation.communication.descriptor ?? assert.fail();
      assert.equal(history.length, 6);
      assert.equal((await a.client.session(id, new AbortController().signal)).history.length, 2);
    });

    it('is lost with the window, or its server’s work meanwhile', async () => {
      const descriptors = new Kept();
      const { conversation, server } = await openServed('history_echo', { descriptors });
      await conversation.send('one').done;
      const { sessionId } = conversation;
      const text = descriptors.texts.get('test') ?? '';
      assert.equal(text.includes(server.token), false);
      conversation.dispose();
      // The server has gone on with it: what it knows more is taken over.
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
      assert.match(notices(again)[0] ?? '', /had 2 more messages/);
    });

    it('has a hole where a server did not record a turn', async () => {
      const kept: string[] = [];
      const stub = await stubServer(({ method, path }, response) => {
        if (path === '/ping' || path === '/agents/a') return json(response, 200, { name: 'a' });
        if (method === 'GET') return json(response, 404, { code: 'not_found', message: 'Session not found' });
        const run = { run_id: mintId(), agent_name: 'a', status: 'failed', output: [] };
        return json(response, 200, { ...run, error: { code: 'server_error', message: 'broke' } });
      });
      const { conversation } = open(define(stub.baseUrl, 'a'), {
        messageRecorder: (key) => ({
          record: async ({ role }) => `http://own.test/${key}/${kept.push(role)}`,
        }),
      });
      await conversation.send('go').done;
      assert.deepEqual(conversation.communication.descriptor?.history, ['http://own.test/test/1']);
      assert.deepEqual(kept, ['user']);
    });

    it('is taken over from elsewhere without its past', async () => {
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

    it('is said to go on though nobody has it', async () => {
      const server = await serve(AGENTS);
      const agent = define(server.baseUrl, 'echo', { Authorization: TOKEN });
      session = testConversation({
        agent,
        cwd: folder,
        opening: { kind: 'reopen', sessionId: mintId(), transcript: 'replay' },
        services: { remote: remoteFor(server) },
      });
      await session.conversation.start();
      assert.equal(projectSession(session.conversation).error?.code, 'session-not-found');
    });

    it('cannot be told from a damaged file', async () => {
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

  describe('whose server', () => {
    it('loses the rest of an answer with its connection', async () => {
      const id = mintId();
      const run = { run_id: id, agent_name: 'a', session_id: null, await_request: null, error: null, output: [] };
      const events = [
        { type: 'run.created', run: { ...run, status: 'created' } },
        { type: 'message.part', part: { content: 'first ', content_type: 'text/plain', name: null, metadata: null } },
        { type: 'message.part', part: { content: 'second' } },
        { type: 'run.completed', run: { ...run, status: 'completed' } },
      ];
      const stub = await stubServer(({ method, path }, response) => {
        if (path === '/agents/a') return json(response, 200, { name: 'a', description: null, metadata: null });
        if (path === '/ping') return json(response, 200, {});
        if (path.endsWith('/events')) return json(response, 200, { events });
        if (method === 'GET') return json(response, 404, { code: 'not_found', message: 'no', data: null });
        response.writeHead(200, { 'content-type': 'text/event-stream', 'run-id': id });
        response.write(sse(events.slice(0, 2)), () => response.destroy());
      });
      const opened = open(define(stub.baseUrl, 'a'));
      assert.equal((await opened.conversation.send('go').done).stopReason, 'end_turn');
      assert.deepEqual(texts(opened), ['first second']);
    });

    it('takes the conversation along when it goes down in the middle of a turn', async () => {
      const opened = await openServed('endless');
      const { conversation, until, server } = opened;
      const { done } = conversation.send('go');
      await until((one) => one.model.state.entries.some(({ kind }) => kind === 'agent'));
      await server.server.stop();
      assert.match((await done).stopReason, /^(error|cancelled)$/);
      const { done: next } = conversation.send('again');
      assert.equal((await next).stopReason, 'error');
      const error = conversation.model.state.entries.findLast((entry) => entry.kind === 'error');
      assert.equal(error?.code, 'agent-server-unreachable');
      assert.match(error?.hint ?? '', /Check that it runs/);
      assert.equal(phaseOf(conversation), 'ready');
      await serve(AGENTS, { token: server.token }, Number(new URL(server.baseUrl).port));
      conversation.send('once more').done.catch(() => {});
      await until((one) => one.model.state.entries.filter(({ kind }) => kind === 'agent').length === 2);
    });

    it('answers as the recorded one does, and is not understood', async () => {
      const recorded = [...recordedExchanges().values()].flat();
      const stream = recorded.find(({ body }) => body.startsWith('data: ') && body.includes('"run.completed"'));
      const manifest = recorded.find(({ body }) => body.startsWith('{"name":"echo"'));
      assert.ok(stream);
      const stub = await stubServer(({ method, path }, response) => {
        if (path === '/ping') return json(response, 200, {});
        if (path.startsWith('/agents/')) {
          return manifest ? response.end(manifest.body) : json(response, 200, { name: 'echo', description: null });
        }
        if (method === 'GET') return json(response, 404, { code: 'not_found', message: 'Session not found' });
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
        response.end(`${stream.body}\n\n`);
      });
      const opened = open(define(`${stub.baseUrl}/`, 'echo'));
      assert.equal((await opened.conversation.send('go').done).stopReason, 'end_turn');
      assert.equal(texts(opened).length > 0, true);
    });

    for (const [what, answer, code, words] of [
      ['wants credentials', 401, 'agent-server-unauthorized', /Forget Secrets/],
      ['refuses access', 403, 'agent-server-forbidden', /Check the “headers”/],
      ['is a web page', 'page', 'agent-server-answer', /Agent Communication Protocol/],
      ['is something else', 404, 'not-an-agent-server', /Check the “url”/],
      ['is another place', 301, 'agent-server-redirect', /Redirects are not followed/],
    ] as const) {
      it(`says nothing that helps when it ${what}`, async () => {
        const stub = await stubServer((_request, response) => {
          if (answer === 'page') {
            response.writeHead(200, { 'content-type': 'text/html' });
            response.end('<h1>Hello</h1>');
          } else {
            response.writeHead(answer, { location: 'http://127.0.0.1:1/' });
            response.end();
          }
        });
        const { conversation } = open(define(stub.baseUrl, 'a'));
        await conversation.start();
        const { error } = projectSession(conversation);
        assert.equal(error?.code, code);
        assert.match(error?.message ?? '', /^Far: /);
        assert.match(error?.hint ?? '', words);
      });
    }

    it('does not have the agent, and does not say which ones it has', async () => {
      const { conversation } = await openServed('nobody');
      await conversation.start();
      const { error } = projectSession(conversation);
      assert.equal(error?.code, 'agent-unknown');
      assert.match(error?.hint ?? '', /^It has echo, awaiting, failing, /);
    });

    it('is not running, and nobody says so', async () => {
      const stub = await stubServer(() => {});
      await stub.stop();
      const { conversation } = open(define(stub.baseUrl, 'a'));
      await conversation.start();
      const { error } = projectSession(conversation);
      assert.equal(error?.code, 'agent-server-unreachable');
      assert.match(error?.message ?? '', /^Far: The agent server at http:\/\/127\.0\.0\.1:\d+ cannot be reached/);
    });

    it('is sent the secret of another, or one in clear over the network', async () => {
      const asked: string[] = [];
      const remote = {
        secret: async (origin: string): Promise<string> => {
          asked.push(origin);
          return 'sesame-street';
        },
        allowCleartext: async () => false,
      };
      const stub = await stubServer((_request, response) =>
        json(response, 401, { code: 'invalid_input', message: 'sesame-street is no token', data: null }),
      );
      const near = open(define(stub.baseUrl, 'a', { Authorization: TOKEN }), { remote });
      await near.conversation.start();
      assert.deepEqual(asked, [stub.baseUrl]);
      assert.equal(stub.requests[0]?.headers.authorization, 'Bearer sesame-street');
      assert.equal(JSON.stringify(projectSession(near.conversation)).includes('sesame'), false);
      await near.close();
      const far = open(define('http://agents.example.com', 'a', { Authorization: TOKEN }), { remote });
      await far.conversation.start();
      assert.equal(projectSession(far.conversation).error?.code, 'remote-cleartext');
      assert.equal(asked.length, 1);
    });

    it('hears from a workspace that the user does not trust', async () => {
      const stub = await stubServer((_request, response) => json(response, 200, {}));
      const { conversation } = open(define(stub.baseUrl, 'a'), { isTrusted: () => false });
      await conversation.start();
      assert.equal(phaseOf(conversation), 'failed');
      assert.equal(stub.requests.length, 0);
    });
  });

  it('is offered pictures that it cannot read, or no files that it can', async () => {
    const stub = await stubServer(({ path }, response) =>
      path === '/ping'
        ? json(response, 404, {})
        : json(response, 200, { name: 'a', input_content_types: ['text/plain', 'image/png'] }),
    );
    const { conversation } = open(define(stub.baseUrl, 'a'));
    await conversation.start();
    assert.deepEqual(conversation.promptCapabilities, { image: true, audio: false, embeddedContext: false });
    await session?.close();
    const all = await openServed('echo');
    await all.conversation.start();
    assert.deepEqual(all.conversation.promptCapabilities, { image: true, audio: true, embeddedContext: true });
  });
});
