// The client against servers that misbehave, disconnect or stay silent.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { CommunicationClient } from '../../../../src/distributed/client/communicationClient';
import { type FollowOptions, followRun, type RunPosition } from '../../../../src/distributed/client/runRecovery';
import type { RunEvent } from '../../../../src/distributed/model/model';
import { userMessage } from '../../../support/servers/servedAgents';
import {
  json,
  type StubRequest,
  type StubServer,
  sse,
  stopStubs,
  stubServer,
} from '../../../support/servers/stubServer';

const signal = new AbortController().signal;
const RUN = '1c067a7f-e7b0-4e6c-8fae-b423de4674df';
const runOf = (status: string, fields: object = {}) => ({
  run_id: RUN,
  agent_name: 'a',
  status,
  output: [],
  ...fields,
});
const EVENTS = [
  { type: 'run.created', run: runOf('created') },
  { type: 'run.in-progress', run: runOf('in-progress') },
  { type: 'message.created', message: { role: 'agent/a', parts: [] } },
  ...['one ', 'two ', 'three'].map((content) => ({ type: 'message.part', part: { content } })),
  { type: 'message.completed', message: { role: 'agent/a', parts: [{ content: 'one two three' }] } },
  { type: 'run.completed', run: runOf('completed', { output: [{ parts: [{ content: 'one two three' }] }] }) },
];
const FAST: FollowOptions = { retryMs: [1, 1, 1], pollMs: 1, quietMs: 60_000 };

function clientOf({ baseUrl }: StubServer, options: object = {}): CommunicationClient {
  return new CommunicationClient({ baseUrl, ...options });
}

function stream(response: ServerResponse, events: readonly unknown[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'run-id': RUN });
  response.write(sse(events));
}

async function follow(client: CommunicationClient, options: FollowOptions = FAST, until = signal): Promise<RunEvent[]> {
  const position: RunPosition = { runId: undefined, taken: 0 };
  const open = (s: AbortSignal) => client.runStream({ agentName: 'a', input: [] }, s);
  const events: RunEvent[] = [];
  for await (const event of followRun(client, open, position, options, until)) events.push(event);
  return events;
}

const types = (events: readonly { type: string }[]) => events.map(({ type }) => type);
const texts = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'message.part' ? [event.part.content] : []));

describe('the client of agent servers', () => {
  afterEach(stopStubs);

  describe('with an unexpected response', () => {
    const cases: readonly {
      name: string;
      answer: (response: ServerResponse) => void;
      code: string;
      message?: RegExp;
      hint?: RegExp;
    }[] = [
      {
        name: 'an error of the protocol',
        answer: (r) => json(r, 422, { code: 'invalid_input', message: 'bad\n\u0007thing', data: null }),
        code: 'agent-server-invalid-input',
        message: /reports: bad thing$/,
      },
      {
        name: 'a list of validation errors',
        answer: (r) =>
          json(r, 422, {
            code: 'invalid_input',
            message:
              "[{'type': 'uuid_parsing', 'loc': ('path', 'session_id'), 'msg': 'Input should be a valid UUID', 'input': 'session-123', 'ctx': {'error': 'invalid'}}, {'type': 'value_error', 'loc': ('body', 'input', 0), 'msg': \"Value error, That's too much\", 'input': 'secret'}]",
          }),
        code: 'agent-server-invalid-input',
        message: /reports: Input should be a valid UUID \(path\.session_id\); That's too much \(body\.input\.0\)\.$/,
      },
      {
        name: 'a signed link in its words',
        answer: (r) =>
          json(r, 500, {
            code: 'server_error',
            message:
              "Client error '403' for url 'http://s3.test/b/1?X-Amz-Expires=1&X-Amz-Credential=KEY&X-Amz-Signature=abc' or http://127.0.0.1:1/resources/1?exp=1&sig=abc",
          }),
        code: 'agent-server-failed',
        message: /Credential=\[redacted\]&X-Amz-Signature=\[redacted\]' or .*exp=1&sig=\[redacted\]$/,
      },
      {
        name: 'a page of a proxy',
        answer: (r) => r.writeHead(502, { 'content-type': 'text/html' }).end('<h1>secret page</h1>'),
        code: 'agent-server-failed',
        message: /responded with 502 Bad Gateway\.$/,
      },
      { name: 'nothing', answer: (r) => r.writeHead(500).end(), code: 'agent-server-failed', message: /500/ },
      { name: 'a success without content', answer: (r) => r.writeHead(200).end(), code: 'agent-server-answer' },
      {
        name: 'a success that is a page',
        answer: (r) => r.writeHead(200).end('<p>secret page'),
        code: 'agent-server-answer',
        message: /isn't JSON/,
      },
      { name: 'a list', answer: (r) => json(r, 200, ['secret page']), code: 'agent-server-answer' },
      {
        name: 'a demand for a token',
        answer: (r) => r.writeHead(401).end('{}'),
        code: 'agent-server-unauthorized',
        hint: /token/,
      },
      { name: 'a refusal', answer: (r) => r.writeHead(403).end(), code: 'agent-server-forbidden', hint: /token/ },
      {
        name: 'a wish to be left alone for a while',
        answer: (r) => r.writeHead(429, { 'retry-after': '7' }).end(),
        code: 'agent-server-busy',
        hint: /in 7 seconds/,
      },
      {
        name: 'a redirect',
        answer: (r) => r.writeHead(307, { location: 'http://127.0.0.1:1/secret' }).end(),
        code: 'agent-server-redirect',
      },
      { name: 'a closed connection', answer: (r) => r.destroy(), code: 'agent-server-unreachable' },
    ];
    for (const { name, answer, code, message = /./, hint } of cases) {
      it(`tells the user what to do about ${name}, without quoting it`, async () => {
        const stub = await stubServer((_request, response) => answer(response));
        const client = clientOf(stub);
        const calls = [
          () => client.agent('a', signal),
          () => client.runStream({ agentName: 'a', input: [] }, signal),
          () => client.session('s', signal),
        ];
        for (const call of calls) {
          await assert.rejects(call(), (error: Error & { code?: string; hint?: string }) => {
            assert.equal(error.code, code);
            assert.match(error.message, message);
            if (hint) assert.match(error.hint ?? '', hint);
            assert.doesNotMatch(error.message + error.hint, /secret|<h1>/);
            return true;
          });
        }
      });
    }
  });

  it('times out if a server never responds, or never ends its response', async () => {
    const silent = await stubServer(() => {});
    const slow = await stubServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{');
    });
    for (const stub of [silent, slow]) {
      const client = clientOf(stub, { deadlineMs: 30 });
      await assert.rejects(client.ping(signal), { code: 'agent-server-timeout' });
      await assert.rejects(client.runStream({ agentName: 'a', input: [] }, signal), { code: 'agent-server-timeout' });
    }
  });

  it('bounds endless and decompressed responses', async () => {
    const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024, 32));
    const stub = await stubServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(bomb);
    });
    const heap = process.memoryUsage().arrayBuffers;
    await assert.rejects(clientOf(stub).session('s', signal), {
      code: 'agent-server-answer',
      message: /exceeds 16777216 bytes/,
    });
    assert.ok(process.memoryUsage().arrayBuffers - heap < 50 * 1024 * 1024);
  });

  it('never sends a token to another origin, not even after a redirect', async () => {
    const other = await stubServer((_request, response) => json(response, 200, {}));
    const stub = await stubServer((_request, response) => {
      response.writeHead(307, { location: `${other.baseUrl}/ping` }).end();
    });
    const asked: string[] = [];
    const client = clientOf(stub, {
      headers: async (origin: string) => {
        asked.push(origin);
        return { authorization: 'Bearer t' };
      },
    });
    await assert.rejects(client.ping(signal), { code: 'agent-server-redirect' });
    assert.deepEqual(asked, [stub.baseUrl]);
    assert.equal(stub.requests[0]?.headers.authorization, 'Bearer t');
    assert.deepEqual(other.requests, []);
  });

  it('rejects invalid URLs and URLs with a password', () => {
    for (const baseUrl of ['ftp://a', 'http://u:p@a', 'http://a/?x=1', 'a', '']) {
      assert.throws(() => new CommunicationClient({ baseUrl }), { code: 'invalid-address' });
    }
  });

  it('supports a base path, and escapes ids of runs, agents and sessions', async () => {
    const stub = await stubServer((_request, response) => json(response, 200, runOf('completed')));
    const client = new CommunicationClient({ baseUrl: `${stub.baseUrl}/api/v1/` });
    await assert.rejects(client.run('../x?y', signal), { code: 'agent-server-answer' });
    assert.equal(stub.requests[0]?.path, '/api/v1/runs/..%2Fx%3Fy');
  });

  it('also finds sessions at the path of the specification', async () => {
    const stub = await stubServer(({ path }, response) => {
      if (path === '/session/s1') json(response, 200, { id: 's1', history: [], state: null });
      else json(response, 404, { code: 'not_found', message: 'Not Found' });
    });
    assert.deepEqual(await clientOf(stub).session('s1', signal), { id: 's1', history: [] });
    await assert.rejects(clientOf(stub).session('s2', signal), { code: 'agent-server-not-found' });
  });

  it('lists the other agents if one manifest is invalid', async () => {
    const agents = [{ name: 'ok', description: null, extra: 1 }, { name: '../bad' }, 7];
    const stub = await stubServer((_request, response) => json(response, 200, { agents }));
    const found = await clientOf(stub).agents({ limit: 5 }, signal);
    assert.deepEqual(
      found.map(({ name }) => name),
      ['ok'],
    );
    assert.equal(stub.requests[0]?.path, '/agents?limit=5');
  });

  it('resumes only an awaiting run, because some servers hang otherwise', async () => {
    const stub = await stubServer((_request, response) => json(response, 200, runOf('completed')));
    const client = clientOf(stub);
    await assert.rejects(client.resumeStream(RUN, userMessage('yes'), signal), { code: 'run-not-awaiting' });
    assert.ok(stub.requests.every(({ method }) => method === 'GET'));
  });

  it('retries after a broken connection, but never starts a second run', async () => {
    let breaks = 0;
    const stub = await stubServer(({ path }, response) => {
      if (breaks-- > 0) response.destroy();
      else json(response, 200, path.startsWith('/runs') ? runOf('cancelling') : { id: 's', history: [] });
    });
    const client = clientOf(stub);
    breaks = 2;
    assert.equal((await client.session('s', signal)).id, 's');
    breaks = 2;
    assert.equal((await client.cancel(RUN, signal)).status, 'cancelling');
    assert.equal(stub.requests.length, 6);
    breaks = 1;
    await assert.rejects(client.runStream({ agentName: 'a', input: [] }, signal), { code: 'agent-server-unreachable' });
    assert.equal(stub.requests.length, 7);
  });

  it('rejects a session or run with another id', async () => {
    const other = '2d178b80-f8c1-4f7d-9fbf-c534de5785e0';
    const stub = await stubServer(({ path }, response) =>
      json(response, 200, path.startsWith('/runs') ? runOf('completed') : { id: other, history: [] }),
    );
    const client = clientOf(stub);
    await assert.rejects(client.session(RUN, signal), { code: 'agent-server-answer', message: /another session/ });
    await assert.rejects(client.run(other, signal), { code: 'agent-server-answer', message: /another run/ });
    assert.equal((await client.run(RUN.toUpperCase(), signal)).run_id, RUN);
  });

  it('stops at the first end of a run', async () => {
    const stub = await stubServer((_request, response) => {
      stream(response, [...EVENTS, ...EVENTS.slice(3), { type: 'run.failed', run: runOf('failed') }]);
      response.end();
    });
    assert.deepEqual(types(await follow(clientOf(stub))), types(EVENTS));
  });

  describe('when a stream is lost', () => {
    interface Replies {
      /** Events of the stream before it ends. */
      readonly streamed: readonly unknown[];
      /** How the stream breaks; absent: it ends normally. */
      readonly ends?: (response: ServerResponse) => unknown;
      readonly events?: (response: ServerResponse) => unknown;
      readonly run?: (response: ServerResponse) => unknown;
    }
    const allEvents: Replies['events'] = (response) => json(response, 200, { events: EVENTS });
    const notFound = (response: ServerResponse) => json(response, 404, { code: 'not_found', message: 'Run not found' });
    const losing = ({ streamed, ends = (response) => response.end(), events, run }: Replies): Promise<StubServer> =>
      stubServer(({ method, path }, response) => {
        if (method === 'POST') {
          stream(response, streamed);
          ends(response);
        } else if (path === `/runs/${RUN}/events` && events) events(response);
        else run?.(response);
      });
    const followed = async (replies: Replies, options?: FollowOptions) =>
      follow(clientOf(await losing(replies)), options);

    it('yields every event once, wherever the stream broke', async () => {
      for (let cut = 1; cut < EVENTS.length; cut++) {
        // Half an event, then the connection dies.
        const ends = (response: ServerResponse) => response.write('data: {"type":"mess', () => response.destroy());
        const events = await followed({ streamed: EVENTS.slice(0, cut), ends, events: allEvents });
        assert.deepEqual(types(events), types(EVENTS), `cut after ${cut}`);
        assert.deepEqual(texts(events), ['one ', 'two ', 'three']);
      }
    });

    it('follows a running run across a short outage of the server', async () => {
      const replies = [4, 0, 4, 0, 0, 5, EVENTS.length].map((count) => EVENTS.slice(0, count));
      const events: Replies['events'] = (response) => {
        const known = replies.shift() ?? [];
        if (known.length > 0) json(response, 200, { events: known });
        else response.destroy();
      };
      const run: Replies['run'] = (response) => json(response, 200, runOf('in-progress'));
      assert.deepEqual(types(await followed({ streamed: EVENTS.slice(0, 3), events, run })), types(EVENTS));
    });

    it('falls back to the run if the server keeps no events', async () => {
      const run: Replies['run'] = (response) =>
        json(response, 200, runOf('completed', { output: [{ parts: [{ content: 'one two three' }] }] }));
      const events = await followed({ streamed: EVENTS.slice(0, 4), events: notFound, run });
      assert.deepEqual(types(events), [...types(EVENTS.slice(0, 4)), 'run.completed']);
    });

    it('detects a dead connection if the run has ended silently', async () => {
      const run: Replies['run'] = (response) => json(response, 200, runOf('completed'));
      const replies = { streamed: EVENTS.slice(0, 4), ends: () => {}, events: allEvents, run };
      assert.deepEqual(types(await followed(replies, { ...FAST, quietMs: 20 })), types(EVENTS));
    });

    it('waits for an agent that is silent for long', async () => {
      let looks = 0;
      let open: ServerResponse | undefined;
      const run: Replies['run'] = (response) => {
        json(response, 200, runOf('in-progress'));
        looks += 1;
        if (looks === 2) open?.end(sse(EVENTS.slice(4)));
      };
      const ends: Replies['ends'] = (response) => {
        open = response;
      };
      const events = await followed({ streamed: EVENTS.slice(0, 4), ends, run }, { ...FAST, quietMs: 20 });
      assert.deepEqual(types(events), types(EVENTS));
    });

    it('reports a run that cannot be found again', async () => {
      const streamed = EVENTS.slice(0, 4);
      await assert.rejects(followed({ streamed, run: notFound }), { code: 'run-lost', hint: /Send the message again/ });
      await assert.rejects(followed({ streamed, run: (response) => response.destroy() }), { code: 'run-lost' });
      const nameless = await stubServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
      });
      await assert.rejects(follow(clientOf(nameless)), { code: 'run-lost' });
    });

    it('stops following on abort, in the stream and in the recovery', async () => {
      const leave = new AbortController();
      const stub = await losing({ streamed: EVENTS.slice(0, 4), run: () => leave.abort(new Error('left')) });
      await assert.rejects(follow(clientOf(stub), FAST, leave.signal), /left/);
    });
  });

  it('follows runs of servers that do not stream', async () => {
    const done = runOf('completed', { output: [{ parts: [{ content: 'x' }] }] });
    const sync = await stubServer((_request, response) => json(response, 200, done));
    assert.deepEqual(types(await follow(clientOf(sync))), ['run.completed']);
    const later = await stubServer(({ method, path }: StubRequest, response) => {
      if (method === 'POST') json(response, 202, runOf('created'));
      else if (path.endsWith('/events')) json(response, 200, { events: EVENTS });
      else json(response, 200, done);
    });
    assert.deepEqual(types(await follow(clientOf(later))), types(EVENTS));
  });
});
