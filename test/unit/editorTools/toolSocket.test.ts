// The socket of the editor tools: only for its user and with a token.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { silentLog } from '../../../src/base/log';
import { type ToolEntrance, ToolSocket } from '../../../src/editorTools/toolSocket';

describe('editorTools/toolSocket', () => {
  let socket: ToolSocket;
  const open: Socket[] = [];

  beforeEach(() => {
    socket = new ToolSocket(silentLog);
  });

  afterEach(() => {
    for (const one of open.splice(0)) one.destroy();
    socket.dispose();
  });

  const session = (name: string): Promise<ToolEntrance> =>
    socket.open(async (connection) => {
      connection.write(`${name}:`);
      connection.pipe(connection);
    });

  async function say(path: string, text: string, wanted?: string): Promise<string> {
    const connection = connect(path);
    open.push(connection);
    connection.on('error', () => undefined);
    connection.write(text);
    let heard = '';
    const done = new Promise<void>((resolve) => connection.once('close', () => resolve()));
    await Promise.race([
      done,
      new Promise<void>((resolve) => {
        connection.on('data', (chunk: Buffer) => {
          heard += chunk.toString();
          if (wanted !== undefined && heard.includes(wanted)) resolve();
        });
      }),
    ]);
    return heard;
  }

  it('is in a folder only the user can access, at a short path', async function () {
    if (process.platform === 'win32') this.skip();
    const { path } = await session('a');
    assert.ok(Buffer.byteLength(path) <= 100, path);
    assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  });

  it('has a short path even if the temporary folder has a long one', async function () {
    if (process.platform === 'win32') this.skip();
    const before = process.env.TMPDIR;
    process.env.TMPDIR = `/tmp/${'long'.repeat(40)}`;
    try {
      const { path } = await session('a');
      assert.ok(Buffer.byteLength(path) <= 100, path);
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  });

  it('serves each session by its token', async () => {
    const [a, b] = [await session('a'), await session('b')];
    assert.notEqual(a.token, b.token);
    assert.equal(await say(a.path, `${a.token}\nhello`, 'hello'), 'a:hello');
    assert.equal(await say(b.path, `${b.token}\nhello`, 'hello'), 'b:hello');
  });

  it('accepts no token of another window, and outlives that window', async () => {
    const window = new ToolSocket(silentLog);
    try {
      const here = await session('here');
      const there = await window.open(async (connection) => void connection.write('there:'));
      assert.notEqual(there.path, here.path);
      assert.equal(await say(there.path, `${here.token}\n`), '');
      assert.equal(await say(here.path, `${there.token}\n`), '');
      assert.equal(await say(there.path, `${there.token}\n`, 'there:'), 'there:');
      window.dispose();
      assert.equal(await say(here.path, `${here.token}\nhello`, 'hello'), 'here:hello');
    } finally {
      window.dispose();
    }
  });

  it('accepts a token that arrives in chunks', async () => {
    const { path, token } = await session('a');
    const connection = connect(path);
    open.push(connection);
    for (const piece of [token.slice(0, 5), token.slice(5), '\nhel', 'lo']) {
      connection.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    let heard = '';
    for await (const chunk of connection) {
      heard += String(chunk);
      if (heard.includes('hello')) break;
    }
    assert.equal(heard, 'a:hello');
  });

  it('sends nothing to a connection with a wrong, missing or endless token', async () => {
    const { path, token } = await session('a');
    for (const text of [
      '\n{}\n',
      `${token}x\n{}\n`,
      `${token.slice(1)}\n`,
      'x'.repeat(100_000),
      `{"token":"${token}"}\n`,
    ])
      assert.equal(await say(path, text), '');
  });

  it('accepts a valid token while others hold connections open', async () => {
    const { path, token } = await session('a');
    for (let count = 0; count < 40; count++) {
      const silent = connect(path).on('error', () => undefined);
      open.push(silent);
      await once(silent, 'connect');
    }
    assert.equal(await say(path, `${token}\nhello`, 'hello'), 'a:hello');
  });

  it('logs why a connection is refused', async () => {
    const warnings: string[] = [];
    socket.dispose();
    socket = new ToolSocket({ ...silentLog, warn: (text) => void warnings.push(text) });
    const { path, token } = await session('a');
    for (let count = 0; count < 16; count++) void say(path, `${token}\n`);
    await Promise.all(Array.from({ length: 4 }, () => say(path, `${token}\nx`, 'x')));
    await say(path, 'other\n');
    assert.deepEqual(
      [...new Set(warnings)].map((text) => text.replace('editor tools: ', '')),
      ['a session has 16 connections already', 'a connection without a valid token was refused'],
    );
  });

  it('ends the connections of a disposed session, and accepts no more', async () => {
    const entrance = await session('a');
    const other = await session('b');
    const ended = say(entrance.path, `${entrance.token}\n`);
    await say(entrance.path, `${entrance.token}\nx`, 'x');
    entrance.dispose();
    await ended;
    assert.equal(await say(entrance.path, `${entrance.token}\nhello`), '');
    assert.equal(await say(other.path, `${other.token}\nhello`, 'hello'), 'b:hello');
  });

  it('leaves no files behind', async function () {
    if (process.platform === 'win32') this.skip();
    const { path } = await session('a');
    socket.dispose();
    while (existsSync(dirname(path))) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});
