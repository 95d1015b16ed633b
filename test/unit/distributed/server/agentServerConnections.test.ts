// Connections of strangers never block others, and every client gets its response.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { readPublicAddress } from '../../../../src/distributed/model/resourceUrl';
import { MAX_BODY_BYTES } from '../../../../src/distributed/server/serverRequest';
import { LocalStore } from '../../../../src/distributed/stores/localStore';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import {
  echo,
  endless,
  type RunningServer,
  serve,
  stopServers,
  userMessage,
} from '../../../support/servers/servedAgents';
import { raw, runBody, textAt } from '../model/serverUnderTest';

const signal = new AbortController().signal;

describe('the agent server', () => {
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await stopServers();
    await removeScratch();
  });

  async function stranger({ baseUrl }: RunningServer): Promise<Socket> {
    const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  }

  async function closed(socket: Socket): Promise<void> {
    socket.resume();
    if (!socket.closed) await once(socket, 'close');
  }

  async function exchange(running: RunningServer, bytes: string): Promise<string> {
    const socket = await stranger(running);
    socket.write(bytes);
    let text = '';
    for await (const chunk of socket as AsyncIterable<Buffer>) text += chunk.toString();
    return text;
  }

  async function answerAfter(running: RunningServer, headers: readonly string[], pieces: readonly string[]) {
    const socket = await stranger(running);
    socket.pause();
    const { host } = new URL(running.baseUrl);
    socket.write(`POST /runs HTTP/1.1\r\nHost: ${host}\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`);
    for (const piece of pieces) if (!socket.write(piece)) await once(socket, 'drain');
    const [answer] = (await once(socket.resume(), 'data')) as [Buffer];
    return answer.toString().split('\r\n')[0];
  }

  it('reports a body that is too large even to a client that sends all of it before reading', async () => {
    const running = await serve([echo]);
    const piece = 'x'.repeat(1024 * 1024);
    const count = MAX_BODY_BYTES / piece.length + 8;
    const auth = `Authorization: Bearer ${running.token}`;
    const whole = Array<string>(count).fill(piece);
    const chunks = [...Array<string>(count).fill(`100000\r\n${piece}\r\n`), '0\r\n\r\n'];
    const length = `Content-Length: ${count * piece.length}`;
    assert.equal(await answerAfter(running, [auth, length], whole), 'HTTP/1.1 413 Payload Too Large');
    assert.equal(
      await answerAfter(running, [auth, 'Transfer-Encoding: chunked'], chunks),
      'HTTP/1.1 413 Payload Too Large',
    );
    assert.equal(await answerAfter(running, [length], whole), 'HTTP/1.1 401 Unauthorized');
    assert.equal((await raw(running, 'POST', '/runs', { body: runBody('echo') })).status, 200);
  });

  it('refuses a body before it is sent if the client asks first', async () => {
    const running = await serve([echo]);
    const { host } = new URL(running.baseUrl);
    const ask = (length: number, body: string): Promise<string> =>
      exchange(
        running,
        `POST /runs HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${running.token}\r\nConnection: close\r\n` +
          `Expect: 100-continue\r\nContent-Length: ${length}\r\n\r\n${body}`,
      );
    const body = runBody('echo');
    assert.match(await ask(body.length, body), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    const socket = await stranger(running);
    socket.write(
      `POST /runs HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${running.token}\r\n` +
        `Expect: 100-continue\r\nContent-Length: ${MAX_BODY_BYTES + 1}\r\n\r\n`,
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 413 /);
  });

  it('refuses a request with two Host headers, whichever comes first', async () => {
    const running = await serve([echo]);
    const { host } = new URL(running.baseUrl);
    const ask = (...hosts: string[]): Promise<string> => {
      const lines = hosts.map((one) => `Host: ${one}\r\n`).join('');
      return exchange(
        running,
        `GET /ping HTTP/1.1\r\n${lines}Authorization: Bearer ${running.token}\r\nConnection: close\r\n\r\n`,
      );
    };
    assert.match(await ask(host), /^HTTP\/1\.1 200 /);
    assert.match(await ask(host, 'evil.test'), /^HTTP\/1\.1 400 /);
    assert.match(await ask('evil.test', host), /^HTTP\/1\.1 400 /);
    assert.match(await ask(host, host), /^HTTP\/1\.1 400 /);
  });

  it('closes the oldest silent connections for newer ones, and serves callers with the token', async () => {
    const running = await serve([echo, endless], { connections: { strangers: 4, strangerMs: 600_000 } });
    const stream = await running.client.runStream({ agentName: 'endless', input: [userMessage('x')] }, signal);
    const silent: Socket[] = [];
    for (let count = 0; count < 10; count++) silent.push(await stranger(running));
    // Half a head counts as silence.
    for (const socket of silent.slice(6)) socket.write('GET /ping HTTP/1.1\r\nHost: ');
    await Promise.all(silent.slice(0, 6).map(closed));
    assert.equal((await raw(running, 'GET', '/ping')).status, 200);
    assert.equal((await raw(running, 'POST', '/runs', { body: runBody('echo') })).status, 200);
    assert.ok(stream.kind === 'stream' && stream.runId !== undefined);
    await running.client.cancel(stream.runId, signal);
    const types: string[] = [];
    for await (const event of stream.events) types.push(event.type);
    assert.equal(types.at(-1), 'run.cancelled');
  });

  it('closes a connection without a timely first request', async () => {
    const running = await serve([echo], { connections: { strangerMs: 20 } });
    const slow = await stranger(running);
    slow.write('GET /ping HTTP/1.1\r\n');
    await Promise.all([closed(slow), closed(await stranger(running))]);
  });

  it('closes connections of callers without the token', async () => {
    const running = await serve([echo]);
    const { host } = new URL(running.baseUrl);
    const answer = await exchange(running, `GET /ping HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    assert.match(answer, /^HTTP\/1\.1 401 /);
  });

  it('responds 503 if no idle connection can be closed', async () => {
    const running = await serve([echo, endless], { connections: { callers: 2 } });
    const runs: string[] = [];
    for (let count = 0; count < 2; count++) {
      const stream = await running.client.runStream({ agentName: 'endless', input: [userMessage('x')] }, signal);
      assert.ok(stream.kind === 'stream' && stream.runId !== undefined);
      runs.push(stream.runId);
    }
    const refused = await raw(running, 'GET', '/ping');
    assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '5']);
  });

  describe('with a public address', () => {
    const publicAddress = readPublicAddress('https://parley.example.org/mine/');

    it('is reachable under it, with or without the path prefix, and signs links for it', async () => {
      const secret = Buffer.alloc(32, 7);
      const store = new LocalStore({ folder: await scratchFolder(), secret, baseUrl: () => publicAddress.base });
      const running = await serve([echo], {
        stores: async () => [store],
        serveResource: (id, exp, sig, gone) => store.serve(id, exp, sig, gone),
        publicAddress: () => publicAddress,
      });
      const headers = { host: 'parley.example.org' };
      for (const path of ['/ping', '/mine/ping']) {
        assert.equal((await raw(running, 'GET', path, { headers })).status, 200, path);
        assert.equal((await raw(running, 'GET', path, { headers: { host: 'parley.example.org:443' } })).status, 200);
        assert.equal((await raw(running, 'GET', path, { headers: { host: 'other.example.org' } })).status, 421);
      }
      assert.equal((await raw(running, 'GET', '/minevil/ping', { headers })).status, 404);
      const run = JSON.parse((await raw(running, 'POST', '/runs', { body: runBody('echo'), headers })).text);
      const { history } = await running.client.session(run.session_id, signal);
      assert.equal(history.length, 2);
      for (const url of history) assert.match(url, /^https:\/\/parley\.example\.org\/mine\/resources\//);
      const { pathname, search } = new URL(history[0] ?? '');
      assert.equal((await raw(running, 'GET', pathname + search, { headers })).status, 200);
      assert.equal(await textAt(`${running.baseUrl}${pathname.slice('/mine'.length)}${search}`), 'x');
      const keys = await store.list('sessions/', signal);
      assert.ok(keys.includes((await store.keyOf(history[0] ?? '')) ?? ''));
    });

    it('accepts only plain http and https addresses', () => {
      assert.deepEqual(readPublicAddress(' http://Machine.local:8080 '), {
        base: 'http://machine.local:8080',
        hosts: ['machine.local:8080'],
        prefix: '',
      });
      const wrong = ['', 'parley.example.org', 'ftp://a/', 'https://me@a/', 'https://a/?x', 'https://a/#x', 'https://'];
      for (const text of wrong) assert.throws(() => readPublicAddress(text), { code: 'bad-setting' }, text);
    });
  });
});
