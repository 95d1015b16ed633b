// The streamable HTTP transport against servers that follow, stretch and violate the proposal
// (protocol.md 6.1).
import { strict as assert } from 'node:assert';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { HttpTransport, type HttpTransportOptions } from '../../../../src/acp/transport/httpTransport';
import { Deferred } from '../../../../src/base/deferred';
import { ParleyError } from '../../../../src/base/errors';
import { silentLog } from '../../../../src/base/log';
import { closeLoopbacks, Heard, httpLoopback, tcpLoopback } from '../../../support/servers/loopback';

interface Request {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
  readonly response: ServerResponse;
}

const initialized = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}';

/** A correct server by default. */
class Server {
  host = '';
  readonly requests: Request[] = [];
  readonly streams = new Map<string, ServerResponse>();
  instead: (request: Request) => boolean = () => false;
  readonly #waiting = new Set<() => void>();

  async start(): Promise<void> {
    const { host } = await httpLoopback(async (incoming, response) => {
      const { method = '', headers } = incoming;
      const sent = await text(incoming).catch(() => '');
      const body = sent === '' ? {} : (JSON.parse(sent) as Record<string, unknown>);
      const request = { method, headers, body, response };
      this.requests.push(request);
      if (!this.instead(request)) this.#answer(request);
      for (const look of this.#waiting) look();
    });
    this.host = host;
  }

  #answer({ method, headers, body, response }: Request): void {
    if (method === 'GET') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      this.streams.set(String(headers['acp-session-id'] ?? ''), response);
    } else if (body.method === 'initialize') {
      const more = {
        'Acp-Connection-Id': 'c1',
        'Set-Cookie': ['route=a; Path=/', 'other=b; Path=/else', 's=c; Secure'],
      };
      response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', ...more }).end(initialized);
    } else {
      response.writeHead(202).end();
    }
  }

  request(fits: (request: Request) => boolean): Promise<Request> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.requests.find(fits);
        if (!found) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  async stream(session = ''): Promise<ServerResponse> {
    await this.request(({ method, headers }) => method === 'GET' && (headers['acp-session-id'] ?? '') === session);
    const stream = this.streams.get(session);
    assert.ok(stream);
    return stream;
  }
}

const event = (message: unknown): string => `data: ${JSON.stringify(message)}\n\n`;
const prompt = (id: number, sessionId: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'session/prompt', params: { sessionId } });

describe('the streamable HTTP transport', () => {
  let server: Server;
  let heard: Heard;
  const transports: HttpTransport[] = [];

  beforeEach(async () => {
    server = new Server();
    heard = new Heard();
    await server.start();
  });
  afterEach(async () => {
    for (const transport of transports.splice(0)) await transport.close();
    await closeLoopbacks();
  });

  function open(options: Partial<HttpTransportOptions> = {}): HttpTransport {
    const url = new URL(`http://${server.host}/acp?key=topsecret`);
    const transport = new HttpTransport({
      url,
      headers: { Authorization: 'Bearer sesame' },
      log: silentLog,
      ...options,
    });
    transports.push(transport);
    transport.listen(heard);
    return transport;
  }

  async function initialize(options: Partial<HttpTransportOptions> = {}): Promise<HttpTransport> {
    const transport = open(options);
    await transport.write('{"jsonrpc":"2.0","id":0,"method":"initialize"}');
    assert.deepEqual(await heard.first(1), [initialized]);
    return transport;
  }

  async function failure(writing: Promise<unknown>): Promise<ParleyError> {
    const error = await writing.then(
      () => assert.fail('it was taken'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof ParleyError, String(error));
    assert.doesNotMatch(`${error.message} ${error.hint}`, /topsecret|sesame/);
    return error;
  }

  it('sends messages in order, with the headers that name connection, session and user', async () => {
    const transport = await initialize();
    await server.stream();
    await Promise.all([1, 2, 3].map((id) => transport.write(prompt(id, 's1'))));
    const posts = server.requests.filter(({ method }) => method === 'POST').slice(1);
    assert.deepEqual(
      posts.map(({ body, headers }) => [body.id, headers['acp-connection-id'], headers['acp-session-id']]),
      [1, 2, 3].map((id) => [id, 'c1', 's1']),
    );
    assert.ok(server.requests.every(({ headers }) => headers.authorization === 'Bearer sesame'));
    assert.ok(server.requests.slice(1).every(({ headers }) => headers.cookie === 'route=a'));
    // The stream of a session is open before any request for it.
    const kinds = server.requests.map(({ method, headers }) => `${method} ${headers['acp-session-id'] ?? ''}`);
    assert.ok(kinds.indexOf('GET s1') < kinds.indexOf('POST s1'));
  });

  it('opens the stream of a session as soon as its id is known', async () => {
    const transport = await initialize();
    await transport.write('{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}');
    (await server.stream()).write(event({ jsonrpc: '2.0', id: 1, result: { sessionId: 's9' } }));
    (await server.stream('s9')).write(event({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's9' } }));
    const lines = await heard.first(3);
    assert.match(lines[1] ?? '', /"result"/);
    assert.match(lines[2] ?? '', /session\/update/);
  });

  it('delivers the whole replay of an old session', async () => {
    // Much longer than a busy machine takes between two of them.
    const transport = await initialize({ quietMs: 1000 });
    await transport.write('{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1"}}');
    const session = await server.stream('s1');
    (await server.stream()).write(event({ jsonrpc: '2.0', id: 1, result: {} }));
    for (let n = 0; n < 20; n++) {
      session.write(event({ n }));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const lines = await heard.first(22);
    assert.match(lines[20] ?? '', /"n":19/);
    assert.match(lines[21] ?? '', /"result":\{\}/);
  });

  it('names the session in answers to requests of the agent', async () => {
    const transport = await initialize();
    await transport.write(prompt(1, 's1'));
    (await server.stream('s1')).write(event({ jsonrpc: '2.0', id: 'q', method: 'x', params: { sessionId: 's1' } }));
    await heard.first(2);
    await transport.write('{"jsonrpc":"2.0","id":"q","result":null}');
    assert.equal(server.requests.at(-1)?.headers['acp-session-id'], 's1');
  });

  for (const [what, status, headers, body, code] of [
    ['wants credentials', 401, {}, 'topsecret', 'remote-unauthorized'],
    ['points elsewhere', 308, { Location: 'http://127.0.0.1:1/' }, '', 'remote-redirect'],
    ['has no agent there', 404, {}, '', 'remote-not-found'],
    ['is broken', 502, {}, '<html>', 'remote-rejected'],
    ['has a web page there', 200, { 'Content-Type': 'text/html' }, '<html>', 'remote-answer'],
    ['names no connection', 200, { 'Content-Type': 'application/json' }, initialized, 'remote-answer'],
  ] as const) {
    it(`explains that the server ${what}`, async () => {
      server.instead = ({ response }) => Boolean(response.writeHead(status, headers).end(body));
      const transport = open();
      const error = await failure(transport.write('{"jsonrpc":"2.0","id":0,"method":"initialize"}'));
      assert.equal(error.code, code);
      assert.ok(error.message.startsWith(server.host), error.message);
      assert.equal(await heard.end(), error);
      assert.equal(await transport.ended, error);
      assert.equal(server.requests.length, 1);
    });
  }

  it('quotes the server’s reason for refusing initialize', async () => {
    for (const [type, body, words] of [
      ['text/plain', 'Only\nversion 2.', ': Only version 2.'],
      ['application/json', '{"error":{"code":-32600,"message":"Quota used up"}}', ': Quota used up'],
      ['application/json', '{"error":"No seat"}', ': No seat'],
      ['application/json', '{"status":400}', ''],
      ['text/html', '<html>', ''],
    ] as const) {
      server.instead = ({ response }) => Boolean(response.writeHead(400, { 'Content-Type': type }).end(body));
      const { message } = await failure(open().write('{"jsonrpc":"2.0","id":0,"method":"initialize"}'));
      assert.equal(message, `${server.host} rejected the request (400 Bad Request)${words}`);
    }
  });

  it('names the host if the server is unreachable or speaks another protocol', async () => {
    for (const handle of [undefined, '220 mail ready\r\n'] as const) {
      const { host } = await tcpLoopback((socket) => socket.on('data', () => socket.end(handle ?? '')));
      if (handle === undefined) await closeLoopbacks();
      const error = await failure(open({ url: new URL(`http://${host}/`) }).write('{"id":0,"method":"initialize"}'));
      assert.ok(error.message.startsWith(host), error.message);
    }
  });

  it('rejects a too long answer to initialize', async () => {
    server.instead = ({ response }) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Acp-Connection-Id': 'c1' });
      return Boolean(response.end(`"${'x'.repeat(3000)}"`));
    };
    const error = await failure(open({ maxMessageBytes: 2000 }).write('{"id":0,"method":"initialize"}'));
    assert.match(error.message, /exceeds the maximum size/);
  });

  it('rejects a too long event', async () => {
    const transport = await initialize({ maxMessageBytes: 2000 });
    const stream = await server.stream();
    for (let n = 0; n < 30; n++) stream.write(`${n === 0 ? 'data: ' : ''}${'x'.repeat(100)}`);
    assert.equal((await transport.ended).code, 'message-too-large');
  });

  it('keeps the connection if the server temporarily rejects a request', async () => {
    const transport = await initialize();
    server.instead = ({ body, response }) =>
      body.id === 1 && Boolean(response.writeHead(503).end(`later${'.'.repeat(20_000)}`));
    await transport.write(prompt(1, 's1'));
    await transport.write(prompt(2, 's1'));
    const [, line] = await heard.first(2);
    const { id, error } = JSON.parse(line ?? '') as { id: number; error: { message: string; data: { body: string } } };
    assert.equal(id, 1);
    assert.match(error.message, /reported a server error \(503 Service Unavailable\)/);
    assert.ok(error.data.body.startsWith('later') && error.data.body.length <= 8192);
    assert.equal(server.requests.at(-1)?.body.id, 2);
  });

  it('ends the connection if an answer to the agent is lost', async () => {
    const transport = await initialize();
    server.instead = ({ body, response }) => body.result !== undefined && Boolean(response.writeHead(503).end());
    await failure(transport.write('{"jsonrpc":"2.0","id":"q","result":null}'));
    assert.equal((await transport.ended).code, 'remote-lost');
  });

  it('keeps the other sessions if the server gives one to another client', async () => {
    const transport = await initialize();
    await transport.write(prompt(1, 's1'));
    server.instead = ({ headers, response }) =>
      headers['acp-session-id'] === 's2' && Boolean(response.writeHead(409).end());
    await transport.write(prompt(2, 's2'));
    const [, line] = await heard.first(2);
    assert.match(line ?? '', /"id":2,"error":.*\(409\)/);
    (await server.stream('s1')).write(event({ jsonrpc: '2.0', id: 1, result: {} }));
    assert.match((await heard.first(3))[2] ?? '', /"id":1,"result"/);
  });

  it('reopens a stream that the server ends normally', async () => {
    await initialize();
    const first = await server.stream();
    first.end(event({ n: 1 }));
    await heard.first(2);
    server.requests.length = 0;
    (await server.stream()).write(event({ n: 2 }));
    assert.equal((await heard.first(3))[2], '{"n":2}');
  });

  it('stops reopening streams that end immediately', async () => {
    server.instead = ({ method, response }) =>
      method === 'GET' && Boolean(response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end());
    const transport = await initialize();
    assert.match((await transport.ended).message, /closes each event stream immediately$/);
  });

  it('ends the connection if a stream breaks and events may be missing', async () => {
    const transport = await initialize();
    const stream = await server.stream();
    stream.write('data: {"half":');
    await heard.first(1);
    stream.destroy();
    assert.match((await transport.ended).message, /dropped the connection$/);
    assert.equal(heard.lines.length, 1);
  });

  it('distinguishes web pages, unknown connections and wrong credentials', async () => {
    server.instead = ({ method, response }) =>
      method === 'GET' && Boolean(response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>'));
    assert.equal((await (await initialize()).ended).code, 'remote-answer');
    heard = new Heard();
    server.instead = ({ method, response }) => method === 'GET' && Boolean(response.writeHead(404).end());
    assert.equal((await (await initialize()).ended).code, 'remote-lost');
  });

  it('does not wait for the headers of a stream without events', async () => {
    server.instead = ({ method, response }) => {
      if (method === 'GET') response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      return method === 'GET'; // not flushed: Node holds the head back
    };
    const transport = await initialize();
    await transport.write(prompt(1, 's1'));
    assert.equal(server.requests.at(-1)?.body.id, 1);
  });

  it('deletes the connection on the server when closed', async () => {
    const transport = await initialize();
    const gone = new Deferred<void>();
    (await server.stream()).once('close', () => gone.resolve());
    await transport.close();
    const goodbye = server.requests.at(-1);
    assert.equal(`${goodbye?.method} ${goodbye?.headers['acp-connection-id']}`, 'DELETE c1');
    await gone.promise;
    await assert.rejects(transport.write(prompt(1, 's1')), /closed/);
  });
});
