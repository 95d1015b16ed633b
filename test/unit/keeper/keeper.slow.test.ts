// Real keepers with real agents: messages in both directions survive windows, each exactly once.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { hostEnvironment } from '../../../src/agents/agentEnvironment';
import { descendantsOf } from '../../../src/agents/processTree';
import { Deferred } from '../../../src/base/deferred';
import { silentLog } from '../../../src/base/log';
import { KeeperSocket } from '../../../src/client/transport/keeperSocket';
import type { KeptProcess } from '../../../src/client/transport/keptProcess';
import {
  FRAME,
  type Frame,
  FrameReader,
  frame,
  jsonFrame,
  MAX_FRAME_BYTES,
  nonce,
  PROOF_BYTES,
  PURPOSE,
  proofOf,
} from '../../../src/keeper/wire';
import { ECHO, Heard, keeperProgram, someone, TestKeepers } from '../../support/keeper/keepers';
import { goneFrom, isAlive, isGone, pssOf } from '../../support/processes';
import { scratchFolder } from '../../support/scratch';

describe('a kept agent', function () {
  this.timeout(30_000);
  const keepers = TestKeepers.each();

  const state = async (): Promise<NonNullable<Awaited<ReturnType<typeof keepers.all.list>>[0]['state']>> => {
    const [found] = await keepers.all.list();
    if (!found?.state) throw new Error('no keeper is alive');
    return found.state;
  };

  it('fails with a readable error if it does not start, leaving nothing running', async () => {
    await assert.rejects(keepers.start('', { command: join(keepers.folder, 'nothing') }), {
      code: 'agent-spawn-failed',
      message: /Couldn't start .*nothing: it doesn't exist/,
    });
    await assert.rejects(keepers.start('', { cwd: join(keepers.folder, 'gone') }), { message: /gone doesn't exist/ });
    assert.deepEqual(await keepers.left(), []);
  });

  it('is ended by its keeper if it stops reading stdin', async () => {
    const kept = await keepers.startReady('setInterval(() => {}, 1e6); console.log("ready")', {
      closeGraceMs: { stdin: 100, term: 5_000 },
    });
    for (let count = 0; count < 8; count++) void kept.transport.write('x'.repeat(200_000)).catch(() => {});
    // A keeper that had to be killed does not report how its agent ended.
    assert.equal((await kept.close()).signal, 'SIGTERM');
    assert.ok(await isGone(kept.pid));
    assert.deepEqual(await keepers.left(), []);
  });

  describe('and its windows', () => {
    it('stores the facts of the last window atomically with the message they belong to', async () => {
      const first = await keepers.start(ECHO);
      const heard = Heard.from(first);
      first.setFacts(Buffer.from('old'));
      first.setFacts(Buffer.from('new'));
      await first.transport.write('a');
      await heard.line((text) => text === '1 a');
      // A window killed in the middle of a frame has not sent it.
      const { socket } = await KeeperSocket.open(await keepers.place(first.id), PURPOSE.attach);
      const parts = [frame(FRAME.facts, 0, Buffer.from('cut')), frame(FRAME.send, 2, Buffer.from('cut\n'))];
      const whole = frame(FRAME.batch, 0, Buffer.concat(parts));
      socket.send(whole.subarray(0, whole.length - 1));
      await socket.end();
      const second = await keepers.attach();
      assert.equal(Buffer.from(second.facts ?? []).toString(), 'new');
      assert.equal((await state()).sent, 1);
      second.setFacts(Buffer.from('alone'));
      await second.detach();
      assert.equal(Buffer.from((await keepers.attach()).facts ?? []).toString(), 'alone');
    });

    it('gets each message once, even if another window resends it', async () => {
      const first = await keepers.start(ECHO);
      Heard.from(first);
      await first.transport.write('a');
      await first.detach();
      const { socket } = await KeeperSocket.open(await keepers.place(first.id), PURPOSE.attach);
      socket.send(frame(FRAME.send, 1, Buffer.from('a\n')));
      await socket.closed;
      const { kept: second, heard } = await keepers.read();
      await second.transport.write('b');
      await heard.line((text) => text === '2 b');
      assert.deepEqual(heard.texts, ['ready', '1 a', '2 b']);
    });

    it('sends the next window all new stderr output, and the end of earlier output', async () => {
      const first = await keepers.start(`
        process.on('SIGUSR2', () => { console.error('meanwhile'); console.log('done'); });
        console.error('before'); console.log('ready'); process.stdin.resume();`);
      const early = new Heard();
      const said = heardOn(first);
      first.transport.listen(early);
      await early.line((text) => text === 'ready');
      await said('before');
      await first.detach();
      process.kill(first.pid, 'SIGUSR2');
      while ((await state()).lines < 2);
      const lines: string[] = [];
      const second = await keepers.all.attach('one', { log: silentLog, onStderr: (line) => void lines.push(line) });
      assert.ok(second);
      await heardOn(second)('before\nmeanwhile');
      assert.deepEqual(lines, ['meanwhile']);
    });

    function heardOn(kept: KeptProcess): (tail: string) => Promise<void> {
      return async (tail) => {
        while (kept.stderrTail() !== tail) await new Promise((resolve) => setTimeout(resolve, 5));
      };
    }
  });

  describe('without a window', () => {
    it('outlives the process that started it and its whole process group', async () => {
      const first = await startElsewhere(keepers);
      assert.ok(isAlive(first));
      const { kept: second, heard } = await keepers.read();
      assert.equal(second.pid, first);
      await second.transport.write('b');
      await heard.line((text) => text === '1 b');
    });

    it('loses no output, in bounded memory, and is paused at the limit', async () => {
      const megabytes = 132;
      const first = await keepers.startReady(`
        const line = 'x'.repeat(1023) + '\\n';
        let left = ${megabytes};
        const say = () => { if (left-- > 0) process.stdout.write(line.repeat(1024), say); else console.log('all'); };
        console.log('ready'); process.stdin.once('data', say);`);
      await first.transport.write('go');
      await first.detach();
      let now = await state();
      let memory = 0;
      while (now.bytes < 128 * 1024 * 1024) {
        memory = Math.max(memory, await pssOf(now.pid));
        now = await new Promise((resolve) => setTimeout(() => resolve(state()), 50));
      }
      assert.ok(now.isHeld);
      assert.ok(now.bytes < 129 * 1024 * 1024, `${now.bytes} bytes`);
      memory = Math.max(memory, await pssOf(now.pid));
      assert.ok(memory > 0 && memory <= 60, `${memory} MB`);
      const files = await readdir(join(keepers.folder, first.id));
      const sizes = await Promise.all(
        files.map(async (name) => (await stat(join(keepers.folder, first.id, name))).size),
      );
      assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 129 * 1024 * 1024);
      const second = await keepers.attach();
      let lines = 0;
      let wrong = 0;
      let rest = '';
      await new Promise<void>((resolve) => {
        second.transport.listen({
          data: (chunk) => {
            const parts = (rest + Buffer.from(chunk).toString('latin1')).split('\n');
            rest = parts.pop() ?? '';
            lines += parts.length;
            wrong += parts.filter((part) => part.length !== 1023 && part !== 'all').length;
            second.stored({ line: lines + 1, open: [] });
            if (parts.at(-1) === 'all') resolve();
          },
          closed() {},
        });
        second.deliver({ line: 1, open: [] });
      });
      assert.deepEqual([lines, wrong], [megabytes * 1024 + 1, 0]);
      while ((await state()).bytes > 1024 * 1024) await new Promise((resolve) => setTimeout(resolve, 20));
      const left = (await readdir(join(keepers.folder, first.id))).filter((name) => name.startsWith('output'));
      assert.deepEqual(left, []);
    });

    it('is ended if it closes its stdout, and the next window gets all output', async () => {
      const script = 'read line; echo last; exec >&-; sleep 1000';
      const kept = await keepers.start('', { command: '/bin/sh', args: ['-c', script] });
      await kept.transport.write('go');
      await kept.detach();
      await goneFrom(kept.pid);
      const { kept: next, heard } = await keepers.read();
      await heard.ended;
      assert.deepEqual(heard.lines, [{ number: 1, text: 'last' }]);
      await next.close();
      assert.ok(await isGone(kept.pid));
    });

    it('exits in an orderly way when idle, together with its keeper', async () => {
      const { first, keeper } = await withLease({ leaveAfterMs: 0 });
      await goneFrom(first.pid);
      await goneFrom(keeper);
      assert.deepEqual(await keepers.left(), []);
    });

    it('continues until the response to our request, gets the goodbye, and exits', async () => {
      const { first } = await withLease({
        endMarks: [{ has: { id: 7 }, lacks: ['method'] }],
        leaveAfterMs: 0,
        goodbye: '{"method":"bye"}\n',
      });
      // Neither another response nor the agent's own message ends the work.
      await say('{"id":8,"result":{}}', '{"id":7,"method":"ask"}');
      assert.deepEqual([(await state()).isWorking, (await state()).waiting], [true, 1]);
      await say('{"id":7,"result":{}}');
      assert.deepEqual([(await state()).isWorking, isAlive(first.pid)], [false, true]);
      // The agent stays until its request, which waits for a window, is answered.
      const { socket } = await KeeperSocket.open(await keepers.place(first.id), PURPOSE.attach);
      const { sent } = await state();
      socket.send(
        frame(
          FRAME.batch,
          0,
          Buffer.concat([frame(FRAME.answer, 3), frame(FRAME.send, sent + 1, Buffer.from('ok\n'))]),
        ),
      );
      await socket.end();
      await goneFrom(first.pid);
      const { kept: second, heard } = await keepers.read({ line: 1, open: [] });
      assert.equal((await second.exited).code, 0);
      assert.deepEqual(heard.texts.slice(-2), ['ok', '{"method":"bye"}']);
    });

    it('exits after silence for too long, even if it is working', async () => {
      const { first } = await withLease({ endMarks: [{ has: { id: 7 } }], silentMs: 50 });
      await goneFrom(first.pid);
    });

    async function withLease(
      lease: Parameters<TestKeepers['attachWith']>[1],
    ): Promise<{ first: KeptProcess; keeper: number }> {
      const first = await keepers.startReady(`console.log('ready'); process.stdin.pipe(process.stdout);`);
      first.stored({ line: 1, open: [] });
      const { pid } = await state();
      const second = await keepers.attachWith(first.id, lease);
      await second.detach();
      return { first, keeper: pid };
    }

    async function say(...lines: readonly string[]): Promise<void> {
      const [found] = await keepers.all.list();
      assert.ok(found?.state);
      const { socket, welcome } = await KeeperSocket.open(await keepers.place(found.id), PURPOSE.attach);
      for (const [n, line] of lines.entries()) {
        socket.send(frame(FRAME.send, welcome.state.sent + n + 1, Buffer.from(`${line}\n`)));
      }
      await socket.end();
      while ((await state()).lines < welcome.state.lines + lines.length) await state();
      // The watch reads output in the next turn of the event loop.
      await state();
    }
  });

  describe('seen by others', () => {
    it('has a folder and files that only its user can read, without its environment', async () => {
      const secret = 'sk-very-secret-value';
      const kept = await keepers.start(ECHO, { env: { ...hostEnvironment(process.env), API_KEY: secret } });
      const folder = join(keepers.folder, kept.id);
      for (const path of [keepers.folder, folder]) assert.equal((await stat(path)).mode & 0o777, 0o700);
      for (const name of await readdir(folder)) {
        const path = join(folder, name);
        if ((await stat(path)).isSocket()) continue;
        assert.equal((await stat(path)).mode & 0o777, 0o600);
        assert.ok(!(await readFile(path, 'utf8')).includes(secret), name);
      }
      assert.ok(!(await readFile(`/proc/${(await state()).pid}/cmdline`, 'utf8')).includes(secret));
      assert.ok(!(await readFile(`/proc/${(await state()).pid}/environ`, 'utf8')).includes(secret));
    });

    it("listens at a path that all systems accept, however long its folder's path is", async () => {
      const long = await TestKeepers.make({ folder: join(keepers.folder, 'x'.repeat(120), 'keepers') });
      const kept = await long.start(ECHO);
      const { socket } = await long.place(kept.id);
      assert.ok(Buffer.byteLength(socket) <= 100, socket);
      assert.equal((await stat(join(socket, '..'))).mode & 0o777, 0o700);
      await kept.close();
      await assert.rejects(stat(join(socket, '..')), { code: 'ENOENT' });
    });

    it('rejects clients without the token, and clients that are too slow', async () => {
      const kept = await keepers.start(ECHO);
      const place = await keepers.place(kept.id);
      await assert.rejects(KeeperSocket.open({ ...place, token: 'guessed' }, PURPOSE.attach), /token/);
      for (const bytes of [
        'GET / HTTP/1.1\r\n\r\n',
        frame(FRAME.stop),
        frame(FRAME.prove, 0, Buffer.alloc(32)),
        frame(FRAME.hello, 1, Buffer.alloc(10_000)),
      ]) {
        const stranger = connect(place.socket);
        stranger.on('error', () => {});
        stranger.write(bytes);
        await new Promise((resolve) => stranger.resume().once('close', resolve));
      }
      assert.ok(isAlive(kept.pid));
      assert.equal((await state()).isAttached, true);
    });

    it('serves its user while strangers keep connections open', async () => {
      const kept = await keepers.start(ECHO);
      const place = await keepers.place(kept.id);
      const strangers = Array.from({ length: 40 }, () => connect(place.socket).on('error', () => {}));
      await Promise.all(strangers.map((one) => once(one, 'connect')));
      const { socket, welcome } = await KeeperSocket.open(place, PURPOSE.look);
      assert.equal(welcome.state.isAttached, true);
      await socket.end();
      for (const one of strangers) one.destroy();
    });

    it("reports the agent's exit to a client that was authenticating at that time", async () => {
      const first = await keepers.start(
        `process.stdin.once('data', () => { process.exitCode = 3; process.stdin.unref(); })`,
      );
      Heard.from(first);
      const { socket: path, token } = await keepers.place(first.id);
      const socket = connect(path);
      const frames: Frame[] = [];
      const proof = new Deferred<Buffer>();
      const ended = new Deferred<void>();
      const reader = new FrameReader(MAX_FRAME_BYTES, (one) => {
        frames.push(one);
        if (one.kind === FRAME.proof) proof.resolve(one.bytes.subarray(PROOF_BYTES));
        if (one.kind === FRAME.ended) ended.resolve();
      });
      socket.on('data', (chunk: Buffer) => reader.push(chunk));
      socket.write(frame(FRAME.hello, 1, nonce()));
      const nonceOfKeeper = await proof.promise;
      await first.transport.write('end');
      await first.exited;
      socket.write(frame(FRAME.prove, PURPOSE.attach, proofOf(token, 'window', nonceOfKeeper)));
      socket.write(jsonFrame(FRAME.deliver, { line: 0, open: [] }));
      await ended.promise;
      assert.deepEqual(
        frames.map(({ kind }) => kind),
        [FRAME.proof, FRAME.foundFacts, FRAME.state, FRAME.ended],
      );
      socket.destroy();
    });

    it('accepts no commands but stop from a connection that only looks', async () => {
      const kept = await keepers.start(ECHO);
      const heard = Heard.from(kept);
      await heard.line((text) => text === 'ready');
      const { socket } = await KeeperSocket.open(await keepers.place(kept.id), PURPOSE.look);
      socket.send(frame(FRAME.send, 1, Buffer.from('stray\n')));
      await socket.end();
      assert.equal((await state()).sent, 0);
      await keepers.all.end(kept.id);
      assert.equal((await kept.exited).code, 0);
    });

    it('skips frames of newer kinds, and closes the connection on a malformed one', async () => {
      const kept = await keepers.startReady(ECHO);
      const place = await keepers.place(kept.id);
      const { socket } = await KeeperSocket.open(place, PURPOSE.attach);
      socket.send(frame(50, 1, Buffer.from('news')));
      socket.send(jsonFrame(FRAME.stored, { line: 1, open: [], news: true }));
      socket.send(frame(FRAME.send, 1, Buffer.from('a\n')));
      socket.send(frame(FRAME.lease, 0, Buffer.from('no JSON')));
      await socket.closed;
      assert.deepEqual([(await state()).sent, (await state()).storedLine], [1, 1]);
      assert.ok(isAlive(kept.pid));
    });
  });

  describe('with a killed keeper', () => {
    it('is reported as crashed, and its process tree ends', async () => {
      const kept = await keepers.start(`
        process.on('SIGTERM', () => {});
        const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
        console.log(child.pid);`);
      const heard = Heard.from(kept);
      const child = Number(await heard.line(() => true));
      process.kill((await state()).pid, 'SIGKILL');
      assert.deepEqual([(await kept.exited).code, (await kept.exited).signal], [null, null]);
      await heard.ended;
      for (const pid of [kept.pid, child]) await goneFrom(pid);
      assert.deepEqual([await keepers.all.list(), await keepers.left()], [[], []]);
    });

    it('is ended as an orphan by the next listing if its guard was killed too', async () => {
      const kept = await keepers.start('setInterval(() => {}, 1000)');
      const { pid } = await state();
      const guards = (await descendantsOf(pid)).filter((one) => one.pid !== kept.pid);
      const killed = [pid, ...guards.map((one) => one.pid)];
      for (const each of killed) process.kill(each, 'SIGKILL');
      await kept.exited;
      for (const each of killed) await goneFrom(each);
      assert.ok(isAlive(kept.pid));
      assert.deepEqual(await keepers.all.list(), []);
      await goneFrom(kept.pid);
      assert.deepEqual(await keepers.left(), []);
    });

    it('is ended first if the keeper gets a signal that it can handle', async () => {
      const kept = await keepers.start(ECHO);
      const { pid } = await state();
      process.kill(pid, 'SIGHUP');
      assert.equal((await state()).pid, pid);
      process.kill(pid, 'SIGTERM');
      assert.equal((await kept.exited).code, 0);
      await goneFrom(pid);
      assert.deepEqual(await keepers.left(), []);
    });
  });
});

async function startElsewhere(keepers: TestKeepers): Promise<number> {
  const outfile = join(await scratchFolder(), 'window.mjs');
  await build({
    stdin: {
      contents: `import { Keepers } from './src/client/transport/keepers';
        const quiet = () => {};
        const log = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
        const keepers = new Keepers({ folder: ${JSON.stringify(keepers.folder)}, program: ${JSON.stringify(await keeperProgram())}, policy: () => 'finishTurn', log });
        const kept = await keepers.start({ about: ${JSON.stringify(someone)}, command: process.execPath, args: ['-e', ${JSON.stringify(ECHO)}], env: process.env, cwd: '/', log });
        console.log(kept.pid);
        setInterval(() => {}, 1000);`,
      resolveDir: process.cwd(),
      loader: 'ts',
    },
    banner: { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);` },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  const window = spawn(process.execPath, [outfile], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(window.stdout, 'data')) as [Buffer];
  process.kill(-(window.pid ?? 0), 'SIGKILL');
  await once(window, 'exit');
  return Number(line);
}
