// Terminals for agents, with real processes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { RpcError } from '../../../../src/acp/jsonrpc/rpcError';
import { Deferred } from '../../../../src/base/deferred';
import { silentLog } from '../../../../src/base/log';
import { type TerminalChange, Terminals, type TerminalsOptions } from '../../../../src/client/terminals/terminals';
import { goneFrom, isGone } from '../../../support/processes';
import { sameData } from '../../../support/sameData';

const node = process.execPath;
const never = new AbortController().signal;

function options(more: Partial<TerminalsOptions> = {}): TerminalsOptions {
  return {
    log: silentLog,
    env: async () => ({ PATH: process.env.PATH ?? '', HOME: tmpdir() }),
    isTrusted: () => true,
    ...more,
  };
}

function printed(terminals: Terminals, terminalId: string, test: (text: string) => boolean): Promise<string> {
  const done = new Deferred<string>();
  const check = (): void => {
    const text = terminals.outputOf(terminalId);
    if (test(text)) done.resolve(text);
  };
  const listening = terminals.onDidChange((change) => change.terminalId === terminalId && check());
  check();
  return done.promise.finally(() => listening.dispose());
}

function isRpcError(code: number, text: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof RpcError);
    assert.equal(error.code, code);
    assert.match(error.message, text);
    return true;
  };
}

describe('Terminals', () => {
  let folder: string;
  let roots: string[];
  let terminals: Terminals;

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-terminals-')));
    roots = [folder];
    terminals = new Terminals(options());
  });

  afterEach(async () => {
    await terminals.closeSession('s');
    terminals.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  async function run(script: string, args: string[] = [], more: object = {}): Promise<string> {
    const { terminalId } = await terminals.create(
      's',
      { command: node, args: ['-e', script, '--', ...args], ...more },
      roots,
    );
    await terminals.waitForExit('s', { terminalId }, never);
    return terminals.output('s', { terminalId }).output;
  }

  describe('starting', () => {
    it('passes arguments unchanged: spaces, quotes, dollars, empty ones, newlines', async () => {
      const args = ['a b', `it's "quoted"`, '$HOME', '', '*', '; rm -rf x', 'zwei\nZeilen', '%PATH%', '\\'];
      assert.deepEqual(JSON.parse(await run('console.log(JSON.stringify(process.argv.slice(1)))', args)), args);
    });

    it('runs a whole shell line given as the command', async () => {
      const { terminalId } = await terminals.create(
        's',
        { command: 'echo one && echo "two  three" | cat; exit 3' },
        roots,
      );
      sameData(await terminals.waitForExit('s', { terminalId }, never), { exitCode: 3 });
      sameData(terminals.output('s', { terminalId }), {
        output: 'one\ntwo  three\n',
        truncated: false,
        exitStatus: { exitCode: 3 },
      });
    });

    it('runs a program whose path contains a space, not as a shell line', async () => {
      const program = join(folder, 'my tool');
      await writeFile(program, '#!/bin/sh\necho ran\n', { mode: 0o755 });
      const { terminalId } = await terminals.create('s', { command: program }, roots);
      await terminals.waitForExit('s', { terminalId }, never);
      assert.equal(terminals.outputOf(terminalId), 'ran\n');
    });

    it('runs in the session’s first folder or the requested one, with the agent’s variables', async () => {
      const show = 'console.log(process.cwd(), process.env.COLOUR, process.env.TERM)';
      assert.equal(await run(show), `${folder} undefined xterm-256color\n`);
      const env = [{ name: 'COLOUR', value: 'a=b c' }];
      assert.equal(await run(show, [], { cwd: '/', env }), '/ a=b c xterm-256color\n');
    });

    it('does not let a command wait for input', async () => {
      assert.equal(
        await run("process.stdin.on('data', () => {}).on('end', () => console.log('end of input'))"),
        'end of input\n',
      );
    });

    it('explains why a command cannot run', async () => {
      const create = (params: unknown) => terminals.create('s', params, roots);
      await assert.rejects(
        create({ command: 'no-such-program-here' }),
        isRpcError(-32603, /no-such-program-here .*not found/),
      );
      await writeFile(join(folder, 'plain'), 'x');
      await assert.rejects(create({ command: './plain', args: ['x'] }), isRpcError(-32603, /not executable/));
      await assert.rejects(
        create({ command: 'ls', cwd: join(folder, 'gone') }),
        isRpcError(-32602, /gone does not exist/),
      );
      await assert.rejects(create({ command: 'ls', cwd: 'here' }), isRpcError(-32602, /absolute/));
      await assert.rejects(create({ command: 'ls', args: 'x' }), isRpcError(-32602, /terminal\/create: args/));
      await assert.rejects(create({ command: '' }), isRpcError(-32602, /command/));
      await assert.rejects(create({ command: 'ls', args: ['a\0b'] }), isRpcError(-32602, /zero/));
      await assert.rejects(create(null), isRpcError(-32602, /terminal\/create/));
    });

    it('runs nothing in an untrusted workspace, or that the owner refuses', async () => {
      const untrusted = new Terminals(options({ isTrusted: () => false }));
      await assert.rejects(untrusted.create('s', { command: 'ls' }, roots), isRpcError(-32603, /trusted/));
      const refusing = new Terminals(
        options({
          allowCreate: ({ command }) => {
            throw new RpcError(-32603, `not ${command}`);
          },
        }),
      );
      await assert.rejects(
        refusing.create('s', { command: 'rm', args: ['a b'] }, roots),
        isRpcError(-32603, /not rm 'a b'/),
      );
    });

    it('limits the number of terminals of an agent', async () => {
      const few = new Terminals(options({ maxTerminals: 2 }));
      const create = () => few.create('s', { command: 'sleep', args: ['60'] }, roots);
      const results = await Promise.allSettled([create(), create(), create()]);
      assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'fulfilled', 'rejected']);
      await assert.rejects(create(), isRpcError(-32603, /2 commands/));
      await few.closeSession('s');
      const { terminalId } = await create();
      await few.release('s', { terminalId });
      few.dispose();
    });
  });

  describe('output', () => {
    it('keeps the end within the byte limit, in whole characters, and reports truncation', async () => {
      const { terminalId } = await terminals.create(
        's',
        { command: node, args: ['-e', "process.stdout.write('x'.repeat(1000) + 'äöü😀')"], outputByteLimit: 9 },
        roots,
      );
      await terminals.waitForExit('s', { terminalId }, never);
      const { output, truncated } = terminals.output('s', { terminalId });
      assert.deepEqual([output, truncated], ['öü😀', true]);
      assert.equal(terminals.outputOf(terminalId).length, 1005);
    });

    it('bounds a flood of output, and reports it no more often than the screen refreshes', async () => {
      const bounded = new Terminals(options({ defaultLimitBytes: 100_000 }));
      let reportCount = 0;
      bounded.onDidChange(({ append }) => {
        if (append !== undefined) {
          reportCount += 1;
          assert.ok(append.length <= 100_000);
        }
      });
      const begun = performance.now();
      const script =
        "const b = Buffer.alloc(65536, 'flood\\n'); for (let n = 0; n < 400; n++) require('fs').writeSync(1, b); console.log('end')";
      const { terminalId } = await bounded.create('s', { command: node, args: ['-e', script] }, roots);
      await bounded.waitForExit('s', { terminalId }, never);
      const { output, truncated } = bounded.output('s', { terminalId });
      assert.equal(truncated, true);
      assert.ok(Buffer.byteLength(output) <= 100_000);
      assert.ok(output.endsWith('end\n'));
      assert.ok(reportCount <= (performance.now() - begun) / 16 + 3, `told ${reportCount} times`);
      await bounded.closeSession('s');
    });

    it('decodes characters written byte by byte, from both streams', async () => {
      const script = `
        const bytes = Buffer.from('grüße 😀');
        let n = 0;
        const next = () => n < bytes.length ? process.stdout.write(bytes.subarray(n, ++n), () => setImmediate(next)) : process.stderr.write('!\\n');
        next();`;
      assert.equal(await run(script), 'grüße 😀!\n');
    });

    it('accepts invalid bytes', async () => {
      assert.equal(await run('process.stdout.write(Buffer.from([0x61, 0xff, 0xc3]))'), 'a\ufffd\ufffd');
    });

    it('streams output in order while the command runs, and reports the exit last', async () => {
      const seen: TerminalChange[] = [];
      terminals.onDidChange((change) => seen.push(change));
      const created: unknown[] = [];
      terminals.onDidCreate((event) => created.push(event));
      const script =
        "process.on('SIGTERM', () => { console.log('bye'); process.exit(4); }); process.stdout.write('ready '); setInterval(() => {}, 1e6)";
      const { terminalId } = await terminals.create('s', { command: node, args: ['-e', script] }, roots);
      assert.deepEqual(created, [
        { terminalId, sessionId: 's', command: `${node} -e '${script.replaceAll("'", "'\\''")}'`, cwd: folder },
      ]);
      await printed(terminals, terminalId, (text) => text === 'ready ');
      sameData(terminals.output('s', { terminalId }), { output: 'ready ', truncated: false });
      await terminals.kill('s', { terminalId });
      assert.equal(seen.map(({ append }) => append ?? '').join(''), 'ready bye\n');
      sameData(seen.at(-1), { terminalId, exit: { exitCode: 4 } });
    });
  });

  describe('ending', () => {
    it('answers a wait that began before a kill, and keeps the id valid', async () => {
      const { terminalId } = await terminals.create('s', { command: 'sleep', args: ['60'] }, roots);
      const waiting = terminals.waitForExit('s', { terminalId }, never);
      await terminals.kill('s', { terminalId });
      sameData(await waiting, { signal: 'SIGTERM' });
      sameData(await terminals.waitForExit('s', { terminalId }, never), { signal: 'SIGTERM' });
      sameData(terminals.output('s', { terminalId }).exitStatus, { signal: 'SIGTERM' });
      await terminals.kill('s', { terminalId });
    });

    it('ends the whole process tree: children that ignore SIGTERM, and those in another session', async () => {
      const script = `
        const { spawn } = require('child_process');
        const stubborn = spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1e6)"], { stdio: ['ignore', 'pipe', 'ignore'] });
        const apart = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
        process.on('SIGTERM', () => {});
        stubborn.stdout.once('data', () => console.log(JSON.stringify([process.pid, stubborn.pid, apart.pid])));`;
      const { terminalId } = await terminals.create('s', { command: node, args: ['-e', script] }, roots);
      const pids = JSON.parse(await printed(terminals, terminalId, (text) => text.endsWith(']\n'))) as number[];
      assert.deepEqual(await Promise.all(pids.map(isGone)), [false, false, false]);
      await terminals.kill('s', { terminalId });
      await Promise.all(pids.map(goneFrom));
      sameData(terminals.output('s', { terminalId }).exitStatus, { signal: 'SIGKILL' });
    });

    it('does not wait for background processes of a command, and ends them on release', async () => {
      const { terminalId } = await terminals.create('s', { command: 'sleep 1000 & echo $!' }, roots);
      sameData(await terminals.waitForExit('s', { terminalId }, never), { exitCode: 0 });
      const pid = Number(terminals.output('s', { terminalId }).output);
      assert.equal(await isGone(pid), false);
      await terminals.release('s', { terminalId });
      await goneFrom(pid);
    });

    it('reads no output of a daemon after its terminal is released', async () => {
      const script = join(folder, 'daemon.js');
      await writeFile(
        script,
        `const { writeSync } = require('fs');
        writeSync(1, process.pid + '\\n');
        setInterval(() => { try { writeSync(1, 'x') } catch { process.exit() } }, 5);`,
      );
      const { terminalId } = await terminals.create('s', { command: `setsid '${node}' '${script}' & exit 0` }, roots);
      await terminals.waitForExit('s', { terminalId }, never);
      const pid = Number.parseInt(await printed(terminals, terminalId, (text) => text.includes('x')), 10);
      await terminals.release('s', { terminalId });
      // The unread pipe is closed, so the daemon's next write fails.
      await goneFrom(pid);
    });

    it('forgets a released terminal for the agent, but keeps its output for the user', async () => {
      const { terminalId } = await terminals.create('s', { command: 'echo kept; sleep 60' }, roots);
      await printed(terminals, terminalId, (text) => text === 'kept\n');
      const waiting = terminals.waitForExit('s', { terminalId }, never);
      const changes: TerminalChange[] = [];
      terminals.onDidChange((change) => changes.push(change));
      await terminals.release('s', { terminalId });
      sameData(await waiting, { signal: 'SIGTERM' });
      sameData(changes, [
        { terminalId, exit: { signal: 'SIGTERM' } },
        { terminalId, released: true },
      ]);
      assert.throws(() => terminals.output('s', { terminalId }), isRpcError(-32002, /no terminal/));
      await assert.rejects(terminals.waitForExit('s', { terminalId }, never), isRpcError(-32002, /no terminal/));
      await assert.rejects(terminals.release('s', { terminalId }), isRpcError(-32002, /no terminal/));
      assert.equal(terminals.outputOf(terminalId), 'kept\n');
    });

    it('hides terminals from other sessions', async () => {
      const { terminalId } = await terminals.create('s', { command: 'sleep', args: ['60'] }, roots);
      assert.throws(() => terminals.output('other', { terminalId }), isRpcError(-32002, /no terminal/));
      await assert.rejects(terminals.kill('other', { terminalId }), isRpcError(-32002, /no terminal/));
      await terminals.closeSession('other');
      assert.equal(terminals.isRunning(terminalId), true);
    });

    it('ends the commands of a closed session, including those being started', async () => {
      const env = new Deferred<Record<string, string>>();
      const slow = new Terminals(options({ env: () => env.promise }));
      const starting = slow.create('s', { command: 'sleep', args: ['60'] }, roots);
      const refused = assert.rejects(starting, isRpcError(-32002, /closed/));
      await slow.closeSession('s');
      env.resolve({ PATH: process.env.PATH ?? '' });
      await refused;
      const { terminalId } = await slow.create('s', { command: 'sleep', args: ['60'] }, roots);
      const waiting = slow.waitForExit('s', { terminalId }, never);
      await slow.closeSession('s');
      sameData(await waiting, { signal: 'SIGTERM' });
      slow.dispose();
      await assert.rejects(slow.create('s', { command: 'ls' }, roots), isRpcError(-32002, /closed/));
    });

    it('leaves nothing running when the window closes', async () => {
      const { terminalId } = await terminals.create('s', { command: 'sleep 1000 & echo $! $$; wait' }, roots);
      const pids = (await printed(terminals, terminalId, (text) => text.endsWith('\n'))).trim().split(' ').map(Number);
      terminals.dispose();
      await Promise.all(pids.map(goneFrom));
    });

    it('leaves nothing running when the window is killed with its extension host', async () => {
      const outfile = join(folder, 'host.mjs');
      // A program that stands in for the extension host: it runs a command that ignores SIGTERM,
      // and prints its output.
      await build({
        stdin: {
          contents: `import { Terminals } from './src/client/terminals/terminals';
            const quiet = () => {};
            const log = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
            const terminals = new Terminals({ log, env: async () => ({ PATH: process.env.PATH }), isTrusted: () => true });
            terminals.onDidChange(({ append }) => append && process.stdout.write(append));
            await terminals.create('s', { command: "trap '' TERM; sleep 1000 & echo $! $$; wait; wait" }, ['/']);`,
          resolveDir: process.cwd(),
          loader: 'ts',
        },
        bundle: true,
        platform: 'node',
        format: 'esm',
        banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
        outfile,
        logLevel: 'silent',
      });
      const host = spawn(node, [outfile], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = (await once(host.stdout, 'data')) as [Buffer];
      const pids = String(line).trim().split(' ').map(Number);
      assert.deepEqual(await Promise.all(pids.map(isGone)), [false, false]);
      host.kill('SIGKILL');
      await once(host, 'exit');
      await Promise.all(pids.map(goneFrom));
    });

    it('lets an agent cancel a wait', async () => {
      const { terminalId } = await terminals.create('s', { command: 'sleep', args: ['60'] }, roots);
      const abort = new AbortController();
      const waiting = terminals.waitForExit('s', { terminalId }, abort.signal);
      abort.abort();
      await assert.rejects(waiting, isRpcError(-32800, /cancelled/));
      assert.equal(terminals.isRunning(terminalId), true);
    });

    it('lets the user stop a command, and reports the exit to the agent', async () => {
      const { terminalId } = await terminals.create('s', { command: 'sleep', args: ['60'] }, roots);
      await terminals.stop(terminalId);
      sameData(terminals.output('s', { terminalId }).exitStatus, { signal: 'SIGTERM' });
      await terminals.stop('unknown');
    });
  });
});
