// Our server, asked by the protocol's own client from npm and by raw requests.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import type { Client } from 'acp-sdk';
import { MAX_MESSAGE_BYTES, readMessage } from '../../../src/distributed/model';
import { mintToken } from '../../../src/distributed/serverAuth';
import { removeScratch } from '../../support/scratch';
import {
  agentOf,
  artifact,
  awaiting,
  clientOf,
  echo,
  endless,
  failing,
  type RunningServer,
  serve,
  slowWords,
  stopServers,
  textIn,
  userMessage,
} from '../../support/servedAgents';

// Its ESM entry does not load.
const sdk = createRequire(`${process.cwd()}/package.json`)('acp-sdk') as typeof import('acp-sdk');

const AGENTS = [echo, awaiting, failing, artifact, endless, slowWords];
const signal = new AbortController().signal;
const Z_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function sdkClient({ baseUrl, token }: RunningServer): Client {
  return new sdk.Client({
    baseUrl,
    fetch: (url, init) => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${token}`);
      return fetch(url, { ...init, headers });
    },
  });
}

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
}

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A request with nothing added: `fetch` would set a content type, and refuses to forge Host and Origin. */
function raw(
  { baseUrl, token }: RunningServer,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(baseUrl);
    const sent = { authorization: `Bearer ${token}`, ...headers };
    const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ''));
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers: given }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    outgoing.on('error', reject).end(body);
  });
}

/** The text of the message behind a link. */
async function textAt(url: string | URL): Promise<string> {
  return textIn(readMessage(await (await fetch(url)).json()));
}

const runBody = (agent: string, fields: object = {}) =>
  JSON.stringify({ agent_name: agent, input: [{ parts: [{ content: 'x' }] }], ...fields });

describe('the agent server', () => {
  let running: RunningServer;

  beforeEach(async () => {
    running = await serve(AGENTS);
  });

  afterEach(async () => {
    await stopServers();
    await removeScratch();
  });

  it('works with every call of the client from npm', async () => {
    const client = sdkClient(running);
    await client.ping();
    assert.deepEqual(
      (await client.agents()).map(({ name }) => name),
      AGENTS.map(({ name }) => name),
    );
    assert.equal((await client.agent('echo')).name, 'echo');
    await client.withSession(async (session) => {
      const run = await session.runSync('echo', 'hello');
      assert.deepEqual([run.status, run.session_id], ['completed', session.sessionId]);
      assert.deepEqual(
        run.output.map(({ role, parts }) => [role, parts[0]?.content]),
        [['agent/echo', 'hello']],
      );
    });
    const events = await all(client.runStream('slow_words', 'x'));
    assert.deepEqual(
      events.map(({ type }) => type),
      [
        'run.created',
        'run.in-progress',
        'message.created',
        'message.part',
        'message.part',
        'message.completed',
        'run.completed',
      ],
    );
    const slow = await client.runAsync('endless', 'x');
    assert.equal((await client.runCancel(slow.run_id)).status, 'cancelling');
    const asked = await client.runSync('awaiting', 'x');
    assert.equal(asked.await_request?.message.parts[0]?.content, 'Proceed?');
    const yes = { type: 'message' as const, message: sdk.Message.parse({ parts: [{ content: 'yes' }] }) };
    const resumed = await all(client.runResumeStream(asked.run_id, yes));
    assert.deepEqual(
      resumed.map(({ type }) => type),
      ['run.in-progress', 'message.created', 'message.part', 'message.completed', 'run.completed'],
    );
    const replay = await client.runEvents(asked.run_id);
    assert.deepEqual(replay.map(({ type }) => type).slice(0, 4), [
      'run.created',
      'run.in-progress',
      'run.awaiting',
      'run.in-progress',
    ]);
    assert.equal((await client.runStatus(asked.run_id)).status, 'completed');
    const second = await client.runSync('awaiting', 'x');
    const answered = await client.runResumeSync(second.run_id, yes);
    assert.equal(answered.output[0]?.parts[0]?.content, 'resumed with: yes');
    const third = await client.runSync('awaiting', 'x');
    assert.equal((await client.runResumeAsync(third.run_id, yes)).status, 'in-progress');
    await assert.rejects(
      client.agent('nope'),
      (error: unknown) => error instanceof sdk.ACPError && error.code === 'not_found',
    );
    assert.equal((await client.runSync('failing', 'x')).error?.message, 'bad input');
    const named = (await all(client.runStream('artifact', 'x'))).filter((event) => event.type === 'message.part');
    assert.equal(named[1]?.part.name, '/a.txt');
  });

  it('tells the id of a run in all three modes, and times as every client can read them', async () => {
    for (const [mode, status] of [
      ['sync', 200],
      ['async', 202],
      ['stream', 200],
    ] as const) {
      const answer = await raw(running, 'POST', '/runs', { body: runBody('echo', { mode }) });
      assert.equal(answer.status, status);
      const id = String(answer.headers['run-id']);
      const run = JSON.parse((await raw(running, 'GET', `/runs/${id}`)).text);
      assert.equal(run.run_id, id);
      assert.match(run.created_at, Z_TIME);
    }
    const done = JSON.parse((await raw(running, 'POST', '/runs', { body: runBody('echo') })).text);
    for (const time of [done.finished_at, done.output[0].created_at, done.output[0].completed_at])
      assert.match(time, Z_TIME);
  });

  it('takes a body without a type, as the Python client sends it, and none that a web form can send', async () => {
    const body = runBody('echo');
    assert.equal((await raw(running, 'POST', '/runs', { body })).status, 200);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const refused = await raw(running, 'POST', '/runs', { body, headers: { 'content-type': type } });
      assert.equal(refused.status, 422, type);
    }
  });

  it('says what is wrong with a request in the words of the protocol', async () => {
    const unknown = '00000000-0000-4000-8000-000000000000';
    const cases: readonly (readonly [string, string, string | undefined, number, string])[] = [
      ['POST', '/runs', runBody('nope'), 404, 'not_found'],
      ['POST', '/runs', '{', 422, 'invalid_input'],
      ['POST', '/runs', '[]', 422, 'invalid_input'],
      [
        'POST',
        '/runs',
        runBody('echo', { input: [{ parts: [{ content: 'x', content_url: 'http://a/b' }] }] }),
        422,
        'invalid_input',
      ],
      ['POST', '/runs', runBody('echo', { input: [{ role: 'assistant', parts: [] }] }), 422, 'invalid_input'],
      ['POST', '/runs', runBody('echo', { session: { id: unknown, history: ['ftp://a/gone'] } }), 422, 'invalid_input'],
      ['POST', '/runs', runBody('echo', { session_id: unknown, session: { id: 'other' } }), 400, 'invalid_input'],
      ['POST', '/runs', runBody('echo', { mode: 'fast' }), 422, 'invalid_input'],
      ['GET', `/sessions/${unknown}`, undefined, 404, 'not_found'],
      ['GET', '/sessions/session-123', undefined, 422, 'invalid_input'],
      ['GET', `/runs/${unknown}`, undefined, 404, 'not_found'],
      ['GET', `/runs/${unknown}/events`, undefined, 404, 'not_found'],
      ['POST', `/runs/${unknown}/cancel`, undefined, 404, 'not_found'],
      ['GET', '/agents/nope', undefined, 404, 'not_found'],
      ['GET', '/agents?limit=0', undefined, 422, 'invalid_input'],
      ['GET', '/agents?offset=x', undefined, 422, 'invalid_input'],
      ['GET', '/runs', undefined, 405, 'server_error'],
      ['DELETE', '/agents', undefined, 405, 'server_error'],
      ['GET', '/nothing', undefined, 404, 'not_found'],
      ['GET', '/', undefined, 404, 'not_found'],
      ['GET', '/agents/%ff', undefined, 404, 'not_found'],
      ['GET', '/agents/echo/more/and/more', undefined, 404, 'not_found'],
    ];
    for (const [method, path, body, status, code] of cases) {
      const answer = await raw(running, method, path, { ...(body !== undefined && { body }) });
      assert.equal(answer.status, status, `${method} ${path} ${body} → ${answer.text}`);
      assert.equal(JSON.parse(answer.text).code, code);
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
    }
    const huge = await raw(running, 'POST', '/runs', { body: `"${'x'.repeat(6 * 1024 * 1024)}"` }).catch(
      () => undefined,
    );
    assert.ok(huge === undefined || huge.status === 413);
  });

  it('gives agents page by page', async () => {
    const page = JSON.parse((await raw(running, 'GET', '/agents?limit=2&offset=1')).text);
    assert.deepEqual(
      page.agents.map(({ name }: { name: string }) => name),
      ['awaiting', 'failing'],
    );
  });

  it('refuses a second answer or a late stop at once, and leaves the run as it is', async () => {
    const { client } = running;
    const asked = await client.runSync({ agentName: 'awaiting', input: [userMessage('x')] }, signal);
    await client.resumeSync(asked.run_id, userMessage('yes'), signal);
    const body = JSON.stringify({ await_resume: { type: 'message', message: { parts: [] } } });
    for (const path of [`/runs/${asked.run_id}`, `/runs/${asked.run_id}/cancel`]) {
      const again = await raw(running, 'POST', path, { body });
      assert.deepEqual([again.status, JSON.parse(again.text).code], [403, 'server_error']);
    }
    assert.equal((await client.run(asked.run_id, signal)).status, 'completed');
  });

  it('keeps every message when two runs of a session come at the same time', async () => {
    const { client } = running;
    const { session_id: sessionId = '' } = await client.runSync({ agentName: 'echo', input: [] }, signal);
    await Promise.all(
      ['one', 'two'].map((text) =>
        client.runSync({ agentName: 'echo', input: [userMessage(text)], sessionId }, signal),
      ),
    );
    const { history } = await client.session(sessionId, signal);
    const texts = await Promise.all(history.map(textAt));
    assert.deepEqual(texts, ['one', 'one', 'two', 'two']);
    assert.equal((await raw(running, 'GET', `/session/${sessionId}`)).status, 200);
  });

  it('finishes and records a run whose client has gone', async () => {
    const gate: { open?: () => void } = {};
    const opened = new Promise<void>((resolve) => {
      gate.open = resolve;
    });
    const patient = agentOf('patient', async (input, out) => {
      await opened;
      out.message(input[0]?.parts ?? []);
    });
    const server = await serve([patient]);
    const leave = new AbortController();
    const stream = await server.client.runStream({ agentName: 'patient', input: [userMessage('x')] }, leave.signal);
    assert.ok(stream.kind === 'stream' && stream.runId !== undefined);
    leave.abort();
    gate.open?.();
    for (;;) {
      const { status, session_id: sessionId = '' } = await server.client.run(stream.runId, signal);
      if (status !== 'completed') continue;
      assert.equal((await server.client.session(sessionId, signal)).history.length, 2);
      break;
    }
  });

  it('keeps what a stopped or failed turn said, in the run and in the session', async () => {
    const { client } = running;
    const started = await client.runStream({ agentName: 'endless', input: [userMessage('x')] }, signal);
    assert.ok(started.kind === 'stream' && started.runId !== undefined);
    for await (const event of started.events)
      if (event.type === 'message.part') await client.cancel(started.runId, signal);
    const run = await client.run(started.runId, signal);
    assert.equal(run.status, 'cancelled');
    assert.deepEqual(
      run.output.map((message) => [message.parts[0]?.content, message.completed_at]),
      [['a ', undefined]],
    );
    assert.equal((await client.session(run.session_id ?? '', signal)).history.length, 2);
    const failed = await client.runSync({ agentName: 'failing', input: [userMessage('x')] }, signal);
    assert.deepEqual([failed.status, failed.error?.code], ['failed', 'invalid_input']);
    assert.equal((await client.session(failed.session_id ?? '', signal)).history.length, 2);
  });

  it('records what a run said when the editor closes in the middle of it', async () => {
    const { client, server, store } = running;
    await client.runAsync({ agentName: 'endless', input: [userMessage('x')] }, signal);
    await server.stop();
    assert.equal((await store.list('sessions/', signal)).length, 2);
    assert.equal(server.baseUrl, undefined);
  });

  it('stops a run that ignores its cancellation, and one that waits behind it', async () => {
    const deaf = agentOf('deaf', () => new Promise(() => {}));
    const { client } = await serve([deaf], { limits: { graceMs: 1 } });
    const first = await client.runAsync({ agentName: 'deaf', input: [] }, signal);
    const sessionId = first.session_id ?? '';
    const second = await client.runStream({ agentName: 'deaf', input: [], sessionId }, signal);
    assert.ok(second.kind === 'stream' && second.runId !== undefined);
    await client.cancel(second.runId, signal);
    await client.cancel(first.run_id, signal);
    const types: string[] = [];
    for await (const event of second.events) types.push(event.type);
    assert.deepEqual(types, ['run.created', 'run.cancelled']);
    assert.equal((await client.run(first.run_id, signal)).status, 'cancelled');
  });

  it('does not let one client fill the memory: runs, their number and their age are bounded', async () => {
    let now = Date.now();
    const server = await serve([echo, endless, awaiting], {
      now: () => now,
      limits: { active: 2, kept: 3, awaitMs: 1000 },
    });
    const { client } = server;
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.push((await client.runSync({ agentName: 'echo', input: [] }, signal)).run_id);
    await assert.rejects(client.run(ids[0] ?? '', signal), { code: 'agent-server-not-found' });
    await client.run(ids[4] ?? '', signal);
    const endlessRun = await client.runAsync({ agentName: 'endless', input: [] }, signal);
    const question = await client.runSync({ agentName: 'awaiting', input: [] }, signal);
    await assert.rejects(client.runSync({ agentName: 'echo', input: [] }, signal), {
      code: 'agent-server-busy',
      hint: 'Try again in 5 seconds.',
    });
    await client.cancel(endlessRun.run_id, signal);
    const sessionId = question.session_id ?? '';
    await assert.rejects(client.runSync({ agentName: 'echo', input: [], sessionId }, signal), {
      code: 'agent-server-conflict',
    });
    now += 2000;
    assert.notEqual((await client.run(question.run_id, signal)).status, 'awaiting');
    now += 2 * 60 * 60_000;
    await assert.rejects(client.run(ids[4] ?? '', signal), { code: 'agent-server-not-found' });
  });

  it('fails a run that produces without end, instead of keeping it all', async () => {
    const flood = agentOf('flood', async (_input, out) => {
      const content = 'x'.repeat(1024 * 1024);
      for (;;) out.part({ content_type: 'text/plain', content_encoding: 'plain', content });
    });
    const { client } = await serve([flood]);
    const { status, error, output } = await client.runSync({ agentName: 'flood', input: [] }, signal);
    assert.equal(status, 'failed');
    assert.match(error?.message ?? '', /more than a run may hold/);
    // Each of its messages is small enough to be read again.
    assert.ok(output.length > 3);
    for (const message of output) assert.ok(JSON.stringify(message).length <= MAX_MESSAGE_BYTES);
  });

  it('tells a client nothing about what broke inside', async () => {
    const broken = agentOf('broken', async () => {
      throw new Error('secret path /home/someone');
    });
    const { client } = await serve([broken]);
    const run = await client.runSync({ agentName: 'broken', input: [] }, signal);
    assert.deepEqual([run.error?.code, run.error?.message], ['server_error', 'An unexpected error occurred']);
  });

  it('joins the tokens of a long answer in what it records, and loses none', async () => {
    const chatty = agentOf('chatty', async (_input, out) => {
      for (let at = 0; at < 3000; at++)
        out.part({ content_type: 'text/plain', content_encoding: 'plain', content: `${at} ` });
    });
    const { client } = await serve([chatty]);
    const run = await client.runSync({ agentName: 'chatty', input: [] }, signal);
    const expected = Array.from({ length: 3000 }, (_, at) => `${at} `).join('');
    assert.deepEqual(
      run.output[0]?.parts.map(({ content }) => content),
      [expected],
    );
    assert.equal((await client.events(run.run_id, signal)).filter(({ type }) => type === 'message.part').length, 3000);
  });

  describe('for strangers', () => {
    it('is closed without the token, or with another one of any length', async () => {
      for (const authorization of ['', 'Bearer x', `Bearer ${mintToken()}`, `Basic ${running.token}`, 'Bearer ']) {
        for (const path of ['/ping', '/agents', '/nothing', '/sessions/x']) {
          assert.equal((await raw(running, 'GET', path, { headers: { authorization } })).status, 401, path);
        }
      }
      assert.equal((await raw(running, 'GET', '/ping')).status, 200);
    });

    it('cannot be opened with a token that could be guessed', async () => {
      await assert.rejects(serve([echo], { token: 'short' }), { code: 'weak-token' });
    });

    it('does not answer web pages, nor names that were pointed at this machine', async () => {
      const { port } = new URL(running.baseUrl);
      const status = async (headers: Record<string, string>) =>
        (await raw(running, 'GET', '/ping', { headers })).status;
      assert.equal(await status({ host: `localhost:${port}` }), 200);
      for (const host of ['evil.test', `evil.test:${port}`, '127.0.0.1', `127.0.0.1:${port}.evil.test`]) {
        assert.equal(await status({ host }), 421, host);
      }
      for (const origin of ['https://evil.test', 'null', `http://127.0.0.1:${port}`]) {
        assert.equal(await status({ origin }), 403, origin);
      }
    });

    it('gives a message to whoever has its whole link, until it ends, and to nobody else', async () => {
      const { client } = running;
      const run = await client.runSync({ agentName: 'echo', input: [userMessage('hello')] }, signal);
      const { history } = await client.session(run.session_id ?? '', signal);
      const url = new URL(history[0] ?? '');
      const get = async (change: (url: URL) => void) => {
        const changed = new URL(url);
        change(changed);
        return (await fetch(changed)).status;
      };
      assert.equal(await get(() => {}), 200);
      assert.equal(await textAt(url), 'hello');
      assert.equal(await get((u) => u.searchParams.set('sig', 'x')), 403);
      assert.equal(await get((u) => u.searchParams.delete('sig')), 403);
      assert.equal(await get((u) => u.searchParams.set('exp', '9999999999')), 403);
      assert.equal(
        await get((u) => {
          u.pathname = new URL(history[1] ?? '').pathname;
        }),
        403,
      );
      for (const path of ['/resources', '/resources/', '/resources/..%2f..%2fetc%2fpasswd', '/resources/%2e%2e/x']) {
        const answer = await raw(running, 'GET', path);
        assert.equal(answer.status, 404, path);
      }
      const ended = await running.store.urlFor((await running.store.list('sessions/', signal))[0] ?? '', {
        expiresIn: 1,
      });
      assert.equal((await fetch(ended)).status, 200);
      const past = new URL(ended);
      past.searchParams.set('exp', '1');
      assert.equal((await fetch(past)).status, 403);
    });

    it('takes no message links from the name under which it was called', async () => {
      const { port } = new URL(running.baseUrl);
      const host = `localhost:${port}`;
      const run = JSON.parse((await raw(running, 'POST', '/runs', { body: runBody('echo'), headers: { host } })).text);
      const { history } = await clientOf(running.baseUrl, running.token).session(run.session_id, signal);
      assert.ok(history.every((url) => url.startsWith(`${running.baseUrl}/resources/`)));
    });
  });
});
