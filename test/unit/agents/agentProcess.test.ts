// Real processes: how an agent is started, heard and ended, and that nothing of it stays behind.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { RpcConnection, type RpcHandlers } from '../../../src/acp/jsonrpc/rpcConnection';
import { AgentProcess, describeExit, type StartOptions } from '../../../src/agents/agentProcess';
import { hostEnvironment } from '../../../src/agents/hostEnvironment';
import { descendantsOf } from '../../../src/agents/processTree';
import { Deferred } from '../../../src/base/deferred';
import { inEnglish } from '../../../src/base/localizable';
import { silentLog } from '../../../src/base/log';
import { goneFrom, isAlive, isGone } from '../../support/processes';
import { removeScratch, scratchFile, scratchFolder } from '../../support/scratch';

const started: AgentProcess[] = [];

async function start(script: string, options: Partial<StartOptions> = {}): Promise<AgentProcess> {
  const agent = await AgentProcess.start({
    command: process.execPath,
    args: ['-e', script],
    env: hostEnvironment(process.env),
    cwd: process.cwd(),
    log: silentLog,
    ...options,
  });
  started.push(agent);
  return agent;
}

/** What the agent writes to stdout until the end of it, as text. */
function output(agent: AgentProcess): Promise<string> {
  const chunks: Uint8Array[] = [];
  const ended = new Deferred<string>();
  agent.transport.listen({
    data: (chunk) => chunks.push(chunk),
    closed: () => ended.resolve(Buffer.concat(chunks).toString()),
  });
  return ended.promise;
}

/** The first line on stdout. */
function firstLine(agent: AgentProcess): Promise<string> {
  let text = '';
  const line = new Deferred<string>();
  agent.transport.listen({
    data: (chunk) => {
      text += Buffer.from(chunk).toString();
      if (text.includes('\n')) line.resolve(text.slice(0, text.indexOf('\n')));
    },
    closed: () => line.reject(new Error('stdout ended')),
  });
  return line.promise;
}

interface Talk {
  readonly rpc: RpcConnection;
  readonly noise: string[];
  readonly closed: Promise<string | undefined>;
}

function connect(agent: AgentProcess, handlers: Partial<RpcHandlers> = {}): Talk {
  const noise: string[] = [];
  const closed = new Deferred<string | undefined>();
  const rpc = new RpcConnection({
    transport: agent.transport,
    log: silentLog,
    handlers: { onUpdates() {}, onRequest: async () => null, onNotification() {}, ...handlers },
    onNoise: (line) => noise.push(line),
  });
  rpc.onDidClose((error) => closed.resolve(error?.code));
  return { rpc, noise, closed: closed.promise };
}

/** Answers every request with its own params. */
const echo = `
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, params } = JSON.parse(line);
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: params }) + '\\n');
});`;

describe('AgentProcess', function () {
  this.timeout(20_000);

  afterEach(async () => {
    for (const agent of started.splice(0)) await agent.close();
    await removeScratch();
  });

  describe('start', () => {
    it('hands every argument over as it is written: spaces, quotes, percent, dollar, line breaks', async () => {
      const args = ['a b', 'say "hi"', "it's", '%PATH%', '$HOME', '`id`', '*', '', 'é\u2028', 'x\ny', '\\', '&& exit'];
      const agent = await start('', {
        args: ['-e', 'process.stdout.write(JSON.stringify(process.argv.slice(1)))', '--', ...args],
      });
      assert.deepEqual(JSON.parse(await output(agent)), args);
    });

    it('gives the agent its folder and its environment, and of ours no more than a mark', async () => {
      const cwd = await scratchFolder();
      const agent = await start('process.stdout.write(JSON.stringify([process.cwd(), process.env]))', {
        cwd,
        env: { A: 'b c', PATH: '/bin' },
      });
      const [folder, env] = JSON.parse(await output(agent)) as [string, Record<string, string>];
      assert.equal(folder, cwd);
      assert.deepEqual([env.A, env.PATH, env.HOME], ['b c', '/bin', undefined]);
      assert.deepEqual(
        Object.keys(env).filter((name) => /parley|vscode|electron/i.test(name)),
        ['PARLEY_AGENT_PROCESS'],
      );
    });

    it('says in words why a process did not start', async () => {
      const folder = await scratchFolder();
      const fails = async (options: Partial<StartOptions>, words: RegExp): Promise<void> => {
        await assert.rejects(start('', options), { code: 'agent-spawn-failed', message: words });
      };
      const script = await scratchFile(folder, 'agent', '#!/no/such/interpreter --x\n');
      const plain = await scratchFile(folder, 'plain', 'text', 0o644);
      await fails({ cwd: join(folder, 'gone') }, /gone doesn't exist/);
      await fails({ cwd: plain }, /plain isn't a folder/);
      await fails({ command: join(folder, 'nothing') }, /Couldn't start .*nothing: it doesn't exist/);
      await fails({ command: script }, /the interpreter in its first line, \/no\/such\/interpreter --x, doesn't exist/);
      await fails({ command: plain }, /doesn't allow running it/);
      await fails({ args: ['x'.repeat(4_000_000)] }, /arguments and environment are too long/);
      await fails({ args: ['nul\0'] }, /invalid character/);
    });

    for (const [when, message] of [
      ['before the process is started', undefined],
      ['while the process is started', /^Starting/],
    ] as const) {
      it(`leaves nothing running where it is stopped ${when}`, async () => {
        const abort = new AbortController();
        const info = (line: string): void => {
          if (message?.test(line)) abort.abort(new Error('stopped'));
        };
        const starting = start('setInterval(() => {}, 1000) // unwanted', {
          log: { ...silentLog, info },
          signal: abort.signal,
        });
        if (!message) abort.abort(new Error('stopped'));
        await assert.rejects(starting, { message: 'stopped' });
        const children = await descendantsOf(process.pid);
        const lines = await Promise.all(
          children.map(({ pid }) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
        );
        assert.deepEqual(
          lines.filter((line) => line.includes('unwanted')),
          [],
        );
      });
    }

    it('delivers what was printed before anybody listened, even when the agent is gone by then', async () => {
      const agent = await start('process.stdout.write("early\\n")');
      const exit = await agent.exited;
      assert.equal(exit.code, 0);
      assert.equal(await output(agent), 'early\n');
    });
  });

  describe('conversation', () => {
    it('carries requests and answers, also of many megabytes and every kind of character', async () => {
      const agent = await start(echo);
      const { rpc } = connect(agent);
      const params = { text: '€𝄞é\u2028"\\'.repeat(300_000) };
      assert.deepEqual(await rpc.request('echo', params), params);
      assert.deepEqual(await rpc.request('echo', { small: true }), { small: true });
    });

    it('waits for an agent that reads slowly instead of piling up messages', async () => {
      const agent = await start(
        `
        process.once('SIGUSR2', () => process.stdout.write('{"method":"reading"}\\n', () => process.stdin.resume()));
        process.stdout.write('{"method":"ready"}\\n');
        setInterval(() => {}, 1000);`,
        { closeGraceMs: { stdin: 50, term: 2000 } },
      );
      const isReady = new Deferred<void>();
      let isReading = false;
      const { rpc } = connect(agent, {
        onNotification: (method) => {
          if (method === 'ready') isReady.resolve();
          else isReading = true;
        },
      });
      await isReady.promise;
      await rpc.notify('small', {});
      const large = rpc.notify('large', { text: 'x'.repeat(2_000_000) });
      process.kill(agent.pid, 'SIGUSR2');
      await large;
      assert.equal(isReading, true);
    });

    it('rejects a message to an agent that has closed its stdin, and does not crash', async () => {
      const agent = await start(
        `require('fs').closeSync(0); process.stdout.write('{"method":"closed"}\\n'); setInterval(() => {}, 1000);`,
        { closeGraceMs: { stdin: 50, term: 2000 } },
      );
      const closedItsStdin = new Deferred<void>();
      const { rpc } = connect(agent, { onNotification: () => closedItsStdin.resolve() });
      await closedItsStdin.promise;
      // The first write may still be taken by the system before it reports the broken pipe.
      await rpc.notify('one', {}).catch(() => {});
      await assert.rejects(rpc.request('two', {}), { code: 'connection-closed' });
    });

    it('survives an agent that prints a banner and garbage around its messages', async () => {
      const agent = await start(`console.log('Welcome!\\n{not json'); process.stdout.write('\\ufeff\\r\\n'); ${echo}`);
      const { rpc, noise } = connect(agent);
      assert.deepEqual(await rpc.request('echo', { a: 1 }), { a: 1 });
      assert.deepEqual(noise.slice(0, 2), ['Welcome!', '{not json']);
    });

    it('ends the connection at a 40 MB line, and the agent can still be closed', async () => {
      const agent = await start(`
        const part = 'x'.repeat(1 << 20);
        process.stdout.write('{"jsonrpc":"2.0","method":"session/update","params":"');
        for (let n = 0; n < 40; n++) process.stdout.write(part);
        process.stdout.write('"}\\n');
        process.stdin.resume();`);
      const { rpc, closed } = connect(agent);
      const pending = assert.rejects(rpc.request('x', {}), { code: 'message-too-large', message: /32 MiB/ });
      assert.equal(await closed, 'message-too-large');
      await pending;
      assert.ok(rpc.stats.bytesIn < 34 * 1024 * 1024);
      assert.equal((await agent.close()).code, 0);
    });

    it('rejects what is pending when the agent dies in the middle, after its last words', async () => {
      const agent = await start(`
        process.stdin.once('data', () => {
          process.stderr.write('fatal: out of luck\\n');
          process.stdout.write('{"method":"session/update","params":1}\\n{"method":"session/upd', () => process.kill(process.pid, 'SIGKILL'));
        });`);
      const updates: unknown[] = [];
      const { rpc, closed, noise } = connect(agent, { onUpdates: (batch) => updates.push(...batch) });
      await assert.rejects(rpc.request('session/prompt', {}), { code: 'connection-closed' });
      assert.equal(await closed, undefined);
      assert.deepEqual(updates, [1]);
      assert.deepEqual(noise, ['{"method":"session/upd']);
      const exit = await agent.exited;
      assert.equal(inEnglish(describeExit(exit)), 'was ended by SIGKILL');
      assert.equal(exit.stderr, 'fatal: out of luck');
    });

    it('notices that an agent has closed its stdout although it lives', async () => {
      const agent = await start(`require('fs').closeSync(1); process.stdin.resume();`);
      const { rpc, closed } = connect(agent);
      await assert.rejects(rpc.request('x', {}), { code: 'connection-closed' });
      assert.equal(await closed, undefined);
      assert.equal((await agent.close()).code, 0);
    });
  });

  describe('exit', () => {
    it('of an agent that fails at once is told with its code and what it printed', async () => {
      const lines: string[] = [];
      const agent = await start(
        `console.error('\\x1b[31mError:\\x1b[0m no key'); console.error('set API_KEY'); process.exitCode = 3;`,
        {
          log: { ...silentLog, info: (line) => lines.push(line) },
        },
      );
      const exit = await agent.exited;
      assert.equal(inEnglish(describeExit(exit)), 'exited with code 3');
      assert.equal(exit.stderr, 'Error: no key\nset API_KEY');
      assert.equal(agent.isRunning, false);
      assert.ok(lines.includes('[stderr] set API_KEY'));
    });

    it('keeps only the end of a stderr of many megabytes', async () => {
      const agent = await start(`for (let n = 0; n < 100000; n++) require('fs').writeSync(2, 'line ' + n + '\\n')`);
      const { stderr } = await agent.exited;
      assert.equal(stderr.split('\n').length, 20);
      assert.ok(stderr.endsWith('line 99999'));
      assert.ok(agent.stderrTail(1_000_000).length <= 64 * 1024);
    });

    it('is told although a grandchild holds the pipes open, and the grandchild is ended too', async () => {
      const agent = await start(`
        const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
        process.stdout.write(child.pid + '\\n', () => process.exit(5));`);
      const grandchild = Number(await firstLine(agent));
      assert.equal((await agent.exited).code, 5);
      await agent.close();
      assert.ok(await isGone(grandchild));
    });

    it('ends processes that the agent started in sessions of their own', async () => {
      const agent = await start(`
        const { spawn } = require('child_process');
        const quiet = "process.on('SIGHUP', () => {}); setInterval(() => {}, 1000)";
        const child = spawn(process.execPath, ['-e', quiet], { detached: true, stdio: 'ignore' });
        process.stdout.write(child.pid + '\\n', () => process.kill(process.pid, 'SIGKILL'));`);
      const child = Number(await firstLine(agent));
      await agent.exited;
      await goneFrom(child);
    });
  });

  describe('close', () => {
    it('lets an agent exit on its own when its stdin closes', async () => {
      const agent = await start(
        `process.stdin.resume().on('end', () => process.stdout.write('bye\\n', () => process.exit(7)));`,
      );
      const said = output(agent);
      assert.equal((await agent.close()).code, 7);
      assert.equal(await said, 'bye\n');
    });

    it('sends SIGTERM to one that ignores the end of its stdin', async () => {
      const agent = await start(`setInterval(() => {}, 1000); console.log('up')`, {
        closeGraceMs: { stdin: 50, term: 5000 },
      });
      await firstLine(agent);
      assert.equal((await agent.close()).signal, 'SIGTERM');
    });

    it('ends an agent that ignores SIGTERM with its whole tree, also children in sessions of their own', async () => {
      const stubborn = `process.on('SIGTERM', () => {}); process.on('SIGHUP', () => {}); setInterval(() => {}, 1000);`;
      const agent = await start(
        `${stubborn}
        const { spawn } = require('child_process');
        const quiet = ${JSON.stringify(stubborn)} + 'process.send?.(1)';
        const all = [false, true].map((detached) => spawn(process.execPath, ['-e', quiet], { detached, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }));
        Promise.all(all.map((child) => new Promise((up) => child.once('message', up)))).then(() => console.log(all.map((child) => child.pid).join()));`,
        { closeGraceMs: { stdin: 50, term: 200 } },
      );
      const grandchildren = (await firstLine(agent)).split(',').map(Number);
      assert.equal(grandchildren.length, 2);
      assert.deepEqual((await descendantsOf(agent.pid)).map(({ pid }) => pid).sort(), [...grandchildren].sort());
      const exit = await agent.close();
      assert.equal(exit.signal, 'SIGKILL');
      for (const pid of grandchildren) assert.ok(await isGone(pid), `${pid} lives`);
    });

    it('gives up on an agent that the system cannot end, and says so', async () => {
      const warnings: string[] = [];
      const agent = await start('setInterval(() => {}, 1000)', {
        log: { ...silentLog, warn: (line) => warnings.push(line) },
        closeGraceMs: { stdin: 20, term: 20, kill: 20 },
      });
      const { kill } = process;
      // As with a process that hangs in the kernel: it is there, and no signal reaches it.
      process.kill = () => true;
      const closing = agent.close();
      const exit = await closing.finally(() => {
        process.kill = kill;
      });
      assert.deepEqual([exit.isStuck, inEnglish(describeExit(exit))], [true, "couldn't be stopped"]);
      assert.match(warnings.join(), /still running after SIGKILL/);
      process.kill(agent.pid, 'SIGKILL');
      await goneFrom(agent.pid);
    });

    it('leaves no helper behind either', async () => {
      const agents = [await start('process.stdin.resume()'), await start('process.stdin.resume()')];
      const helpers = async (): Promise<readonly number[]> => {
        const children = (await descendantsOf(process.pid)).map(({ pid }) => pid);
        const lines = await Promise.all(
          children.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
        );
        return children.filter((_, n) => lines[n]?.includes('parley-guardian'));
      };
      const running = await helpers();
      assert.equal(running.length, 1);
      await Promise.all(agents.map((agent) => agent.close()));
      await Promise.all(running.map(goneFrom));
    });

    it('may be asked for many times, and after the end', async () => {
      const agent = await start('process.stdin.resume()');
      agent.dispose();
      const [one, two] = await Promise.all([agent.close(), agent.close()]);
      assert.equal(one, two);
      assert.equal((await agent.close()).code, 0);
    });
  });

  describe('when the extension host is killed', () => {
    for (const disposed of [false, true]) {
      it(`agents that ignore the end of their stdin and SIGTERM are gone soon after with their children, ${disposed ? 'in the middle of closing' : 'also those in a session of their own'}`, async () => {
        const folder = await scratchFolder();
        const host = await startHost(folder, disposed);
        const [pid, grandchild] = (await lineOf(host)).split(',').map(Number) as [number, number];
        assert.ok(isAlive(pid) && isAlive(grandchild));
        const gone = Promise.all([goneFrom(pid), goneFrom(grandchild)]);
        host.kill('SIGKILL');
        await once(host, 'exit');
        await gone;
      });
    }
  });
});

/** A program that stands for the extension host: it starts a stubborn agent with a grandchild, and prints their numbers. */
async function startHost(folder: string, disposed: boolean): Promise<ChildProcess> {
  const stubborn = `process.on('SIGTERM', () => {}); process.on('SIGHUP', () => {}); setInterval(() => {}, 1000); setTimeout(() => process.exit(), 30000);`;
  const agent = `${stubborn} const child = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(`${stubborn} process.send(1)`)}], { detached: ${!disposed}, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    child.once('message', () => console.log(process.pid + ',' + child.pid));`;
  const outfile = join(folder, 'host.mjs');
  await build({
    stdin: {
      contents: `import { AgentProcess } from './src/agents/agentProcess';
        const quiet = () => {};
        const log = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
        const start = (script) => AgentProcess.start({ command: process.execPath, args: ['-e', script], env: process.env, cwd: '/', log });
        const other = await start('process.stdin.resume()');
        const agent = await start(${JSON.stringify(agent)});
        await other.close();
        agent.transport.listen({ data: (chunk) => { process.stdout.write(chunk); ${disposed ? 'agent.dispose();' : ''} }, closed() {} });`,
      resolveDir: process.cwd(),
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'bundle',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    outfile: outfile,
    logLevel: 'silent',
  });
  return spawn(process.execPath, [outfile], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function lineOf(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  return text.trim();
}
