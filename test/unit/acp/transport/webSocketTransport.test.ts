// The WebSocket transport against correct, silent and misbehaving servers.
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { type WebSocketOptions, WebSocketTransport } from '../../../../src/acp/transport/webSocketTransport';
import { Deferred } from '../../../../src/base/deferred';
import { ParleyError } from '../../../../src/base/errors';
import { silentLog } from '../../../../src/base/log';
import { closeLoopbacks, Heard, httpLoopback, listening, tcpLoopback } from '../../../support/servers/loopback';

const never = new AbortController().signal;

describe('the WebSocket transport', () => {
  const transports: WebSocketTransport[] = [];
  afterEach(async () => {
    for (const transport of transports.splice(0)) await transport.close();
    await closeLoopbacks();
  });

  async function connect(
    host: string,
    options: Partial<WebSocketOptions> = {},
    signal = never,
  ): Promise<WebSocketTransport> {
    const url = new URL(`ws://${host}/acp?key=topsecret`);
    const transport = await WebSocketTransport.connect({ url, headers: {}, log: silentLog, ...options }, signal);
    transports.push(transport);
    return transport;
  }

  async function server(serve: (socket: WebSocket, request: IncomingMessage) => void): Promise<string> {
    const http = createServer();
    new WebSocketServer({ server: http }).on('connection', serve);
    return (await listening(http)).host;
  }

  async function failure(connecting: Promise<unknown>): Promise<ParleyError> {
    const error = await connecting.then(
      () => assert.fail('it connected'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof ParleyError, String(error));
    assert.doesNotMatch(`${error.message} ${error.hint}`, /topsecret|sesame/);
    return error;
  }

  it('carries messages unchanged in both directions', async () => {
    const host = await server((socket, request) => {
      socket.send(`{"first":"${request.headers.authorization}"}`); // together with the handshake, before anybody listens
      socket.on('message', (data) => socket.send(`{\n  "echo": ${data}\r\n}`));
    });
    const transport = await connect(host, { headers: { Authorization: 'Bearer x' } });
    const heard = new Heard();
    transport.listen(heard);
    await transport.write('{"text":"ä\u2028"}');
    const [first, second] = await heard.first(2);
    assert.deepEqual(JSON.parse(first ?? ''), { first: 'Bearer x' });
    assert.deepEqual(JSON.parse(second ?? ''), { echo: { text: 'ä\u2028' } });
  });

  it('ignores binary frames', async () => {
    const host = await server((socket) => {
      socket.send(Buffer.from('{"binary":true}'));
      socket.send('{"text":true}');
    });
    const transport = await connect(host);
    const heard = new Heard();
    transport.listen(heard);
    assert.deepEqual(await heard.first(1), ['{"text":true}']);
  });

  for (const [status, code, words] of [
    [401, 'remote-unauthorized', /requires valid credentials.*\(401 Unauthorized\)/],
    [403, 'remote-forbidden', /denied access \(403 Forbidden\)/],
    [404, 'remote-not-found', /has no agent at this address \(404 Not Found\)/],
    [500, 'remote-rejected', /reported a server error \(500/],
    [200, 'remote-rejected', /rejected the request \(200 OK\)/],
  ] as const) {
    it(`explains that a server answers ${status}`, async () => {
      const host = await tcpOnRequest((socket) => socket.end(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`));
      const error = await failure(connect(host));
      assert.equal(error.code, code);
      assert.ok(error.message.startsWith(host));
      assert.match(error.message, words);
      assert.ok(error.hint);
    });
  }

  it('sends no credentials to the target of a redirect', async () => {
    let leaked = 0;
    const other = await httpLoopback(() => leaked++);
    other.server.on('upgrade', () => leaked++);
    const host = await tcpOnRequest((socket) =>
      socket.end(`HTTP/1.1 307 X\r\nLocation: ws://${other.host}/acp\r\nContent-Length: 0\r\n\r\n`),
    );
    const error = await failure(connect(host, { headers: { Authorization: 'Bearer sesame' } }));
    assert.equal(error.code, 'remote-redirect');
    assert.equal(leaked, 0);
  });

  it('names the host if it is unreachable, no WebSocket server or no TLS server', async () => {
    const garbage = await tcpOnRequest((socket) => socket.end('220 mail ready\r\n'));
    assert.equal((await failure(connect(garbage))).code, 'remote-answer');
    const wrongKey = await tcpOnRequest((socket) =>
      socket.write('HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: no\r\n\r\n'),
    );
    assert.equal((await failure(connect(wrongKey))).code, 'remote-answer');
    const plain = await tcpLoopback((socket) => socket.on('data', () => socket.end('HTTP/1.1 400 X\r\n\r\n')));
    const tls = await failure(connect('', { url: new URL(`wss://${plain.host}/`) }));
    assert.equal(tls.code, 'remote-tls');
    const { host } = await tcpLoopback(() => {});
    await closeLoopbacks();
    const gone = await failure(connect(host));
    assert.equal(gone.message, `${host} refuses connections`);
  });

  it('rejects a server that enables a WebSocket extension', async () => {
    const { host } = await tcpLoopback((socket) =>
      socket.once('data', (head) => {
        const key = /sec-websocket-key: (\S+)/i.exec(head.toString())?.[1] ?? '';
        const accepted = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
        const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
        lines.push(`Sec-WebSocket-Accept: ${accepted}`, 'Sec-WebSocket-Extensions: permessage-deflate', '', '');
        socket.write(lines.join('\r\n'));
      }),
    );
    assert.equal((await failure(connect(host))).code, 'remote-answer');
  });

  it('gives up on a server that accepts the connection and stays silent', async () => {
    const abort = new AbortController();
    const hungUp = new Deferred<void>();
    const host = await tcpOnRequest((socket) => {
      socket.once('close', () => hungUp.resolve());
      abort.abort(new ParleyError('stage-timeout', 'too long'));
    });
    await assert.rejects(connect(host, {}, abort.signal), /too long/);
    await hungUp.promise;
  });

  it('rejects a header value that contains CR or LF', async () => {
    const { host } = await tcpLoopback(() => {});
    const error = await failure(connect(host, { headers: { A: 'x\r\nB: sesame' } }));
    assert.equal(error.code, 'remote-headers');
  });

  it('rejects a too large message', async () => {
    const host = await server((socket) => socket.send('x'.repeat(70_000)));
    const transport = await connect(host, { maxMessageBytes: 65_536 });
    transport.listen(new Heard());
    const error = await transport.ended;
    assert.equal(error.code, 'message-too-large');
    assert.match(error.message, /exceeds the maximum size of 64 KiB/);
  });

  for (const [close, words] of [
    [(socket: WebSocket) => socket.close(1001), /is shutting down \(1001\)$/],
    [
      (socket: WebSocket) => socket.close(1008, 'quota\u001b[31m\n used'),
      /because of its policy \(1008: quota \[31m used\)$/,
    ],
    [(socket: WebSocket) => socket.close(4002, 'mine'), /closed the connection \(4002: mine\)$/],
    [(socket: WebSocket) => socket.terminate(), /dropped the connection/],
  ] as const) {
    it(`explains why the connection ended: ${words}`, async () => {
      const host = await server((socket) => socket.on('message', () => close(socket)));
      const transport = await connect(host);
      const heard = new Heard();
      transport.listen(heard);
      await transport.write('{}');
      const error = await transport.ended;
      assert.equal(error.code, 'remote-lost');
      assert.match(error.message, words);
      assert.equal(await heard.end(), error);
      await assert.rejects(transport.write('{}'), error);
    });
  }

  it('delivers only complete messages if the connection breaks', async () => {
    for (const bytes of [Buffer.from([0x81, 0x7d, 0x7b]), Buffer.from([0xff, 0xff, 0xff])]) {
      const http = createServer();
      const webSockets = new WebSocketServer({ noServer: true });
      http.on('upgrade', (request, socket, head) => {
        webSockets.handleUpgrade(request, socket, head, () => {
          socket.write(bytes);
          socket.end();
        });
      });
      const { host } = await listening(http);
      const transport = await connect(host);
      const heard = new Heard();
      transport.listen(heard);
      assert.equal((await transport.ended).code, 'remote-lost');
      assert.deepEqual(heard.lines, []);
    }
  });

  it('detects a half-open connection', async () => {
    const http = createServer();
    const webSockets = new WebSocketServer({ noServer: true, autoPong: false });
    http.on('upgrade', (request, socket, head) => webSockets.handleUpgrade(request, socket, head, () => {}));
    const transport = await connect((await listening(http)).host, { keepaliveMs: 5 });
    transport.listen(new Heard());
    assert.match((await transport.ended).message, /stopped responding$/);
  });

  it('waits for a server that does not read', async () => {
    let client: WebSocket | undefined;
    const host = await server((socket) => {
      client = socket;
      socket.pause();
    });
    const transport = await connect(host);
    transport.listen(new Heard());
    let isReading = false;
    const sent = transport.write(`"${'x'.repeat(30 * 1024 * 1024)}"`).then(() => isReading);
    await new Promise((resolve) => setImmediate(resolve));
    isReading = true;
    client?.resume();
    assert.equal(await sent, true);
  });

  it('sends a close frame when closed', async () => {
    const left = new Deferred<number>();
    const host = await server((socket) => socket.on('close', (code) => left.resolve(code)));
    const transport = await connect(host);
    await transport.close();
    assert.equal(await left.promise, 1000);
    assert.equal(await Promise.race([transport.ended, 'no end']), 'no end');
  });

  async function tcpOnRequest(answer: (socket: Socket) => void): Promise<string> {
    const { host } = await tcpLoopback((socket) => void once(socket, 'data').then(() => answer(socket)));
    return host;
  }
});
