// Our server with the protocol's own client from npm, with raw requests, and with strangers.
import assert from 'node:assert/strict';
import { mintToken } from '../../../../src/distributed/server/serverRequest';
import { pluck } from '../../../support/pluck';
import { all, sdk, sdkClient } from '../../../support/servers/sdkClient';
import { clientOf, echo, type RunningServer, serve, userMessage } from '../../../support/servers/servedAgents';
import { AGENTS, eachServer, raw, runBody, textAt } from '../model/serverUnderTest';

const signal = new AbortController().signal;
const Z_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('the agent server', () => {
  let running: RunningServer;
  eachServer((server) => {
    running = server;
  });

  it('works with every call of the client from npm', async () => {
    const client = sdkClient(running);
    await client.ping();
    assert.deepEqual(
      pluck(await client.agents(), 'name'),
      AGENTS.map(({ name }) => name),
    );
    assert.equal((await client.agent('echo')).name, 'echo');
    // A session starts with a run or a descriptor; a bare id must exist on the server.
    const begun = (await client.runSync('echo', 'first')).session_id ?? undefined;
    await client.withSession(async (session) => {
      const run = await session.runSync('echo', 'hello');
      assert.deepEqual([run.status, run.session_id], ['completed', session.sessionId]);
      assert.deepEqual(
        run.output.map(({ role, parts }) => [role, parts[0]?.content]),
        [['agent/echo', 'hello']],
      );
    }, begun);
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

  it('returns the run id in all three modes, and portable times', async () => {
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

  it('accepts a body without a type, like the Python client’s, and rejects types of web forms', async () => {
    const body = runBody('echo');
    assert.equal((await raw(running, 'POST', '/runs', { body })).status, 200);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const refused = await raw(running, 'POST', '/runs', { body, headers: { 'content-type': type } });
      assert.equal(refused.status, 422, type);
    }
  });

  // More rejected requests: recordedExchanges.test.ts.
  it('reports invalid requests with the error codes of the protocol', async () => {
    const unknown = '00000000-0000-4000-8000-000000000000';
    const cases: readonly (readonly [string, string, string | undefined, number, string])[] = [
      ['POST', '/runs', '[]', 422, 'invalid_input'],
      ['POST', '/runs', runBody('echo', { session_id: unknown, session: { id: 'other' } }), 400, 'invalid_input'],
      ['POST', '/runs', runBody('echo', { mode: 'fast' }), 422, 'invalid_input'],
      ['GET', `/sessions/${unknown}/versions`, undefined, 404, 'not_found'],
      ['GET', '/sessions/session-123', undefined, 404, 'not_found'],
      ['GET', '/sessions/nobody/versions', undefined, 404, 'not_found'],
      ['GET', '/session/a.b_c~d:1', undefined, 404, 'not_found'],
      ['GET', '/sessions/%2e%2e%2fnobody', undefined, 422, 'invalid_input'],
      ['GET', `/runs/${unknown}/events`, undefined, 404, 'not_found'],
      ['POST', `/runs/${unknown}/cancel`, undefined, 404, 'not_found'],
      ['GET', '/agents/nope', undefined, 404, 'not_found'],
      ['GET', '/agents?limit=0', undefined, 422, 'invalid_input'],
      ['GET', '/agents?offset=x', undefined, 422, 'invalid_input'],
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
  });

  it('lists agents page by page', async () => {
    const page = JSON.parse((await raw(running, 'GET', '/agents?limit=2&offset=1')).text);
    assert.deepEqual(pluck(page.agents as { name: string }[], 'name'), ['awaiting', 'failing']);
  });

  describe('for strangers', () => {
    it('rejects requests without the token, or with another one of any length', async () => {
      for (const authorization of ['', 'Bearer x', `Bearer ${mintToken()}`, `Basic ${running.token}`, 'Bearer ']) {
        for (const path of ['/ping', '/agents', '/nothing', '/sessions/x']) {
          assert.equal((await raw(running, 'GET', path, { headers: { authorization } })).status, 401, path);
        }
      }
      assert.equal((await raw(running, 'GET', '/ping')).status, 200);
    });

    it('refuses to start with a token that could be guessed', async () => {
      await assert.rejects(serve([echo], { token: 'short' }), { code: 'weak-token' });
    });

    it('rejects web pages and foreign host names', async () => {
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

    it('serves a message only with its complete link, until it expires', async () => {
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
        expiresIn: 60,
      });
      assert.equal((await fetch(ended)).status, 200);
      const past = new URL(ended);
      past.searchParams.set('exp', '1');
      assert.equal((await fetch(past)).status, 403);
    });

    it('does not use the Host header in message links', async () => {
      const { port } = new URL(running.baseUrl);
      const host = `localhost:${port}`;
      const run = JSON.parse((await raw(running, 'POST', '/runs', { body: runBody('echo'), headers: { host } })).text);
      const { history } = await clientOf(running.baseUrl, running.token).session(run.session_id, signal);
      assert.ok(history.every((url) => url.startsWith(`${running.baseUrl}/resources/`)));
    });
  });
});
