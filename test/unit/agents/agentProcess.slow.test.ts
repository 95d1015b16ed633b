// Real processes: how an agent is started, read and ended, with nothing left behind.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describeExit } from '../../../src/agents/agentProcess';
import { descendantsOf } from '../../../src/agents/processTree';
import { Deferred } from '../../../src/base/deferred';
import { inEnglish } from '../../../src/base/localizable';
import { silentLog } from '../../../src/base/log';
import { goneFrom, isAlive, isGone } from '../../support/processes';
import { scratchFolder } from '../../support/scratch';
import { closeAgents, connect, echo, firstLine, start } from './startedAgents';

describe('AgentProcess', function () {
  this.timeout(20_000);

  afterEach(closeAgents);

  describe('start', () => {
    for (const [when, message] of [
      ['before the process is started', undefined],
      ['while the process is started', /^Started/],
    ] as const) {
      it(`leaves nothing running if it is aborted ${when}`, async () => {
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
  });

  describe('conversation', () => {
    it('carries requests and responses of many megabytes and any characters', async () => {
      const agent = await start(echo);
      const { rpc } = connect(agent);
      const params = { text: '€𝄞é\u2028"\\'.repeat(300_000) };
      assert.deepEqual(await rpc.request('echo', params), params);
      assert.deepEqual(await rpc.request('echo', { small: true }), { small: true });
    });

    it('waits for a slow reader instead of buffering messages', async () => {
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

    it('closes the connection at a 40 MB line, and can still close the agent', async () => {
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

    it('detects that a running agent has closed its stdout', async () => {
      const agent = await start(`require('fs').closeSync(1); process.stdin.resume();`);
      const { rpc, closed } = connect(agent);
      await assert.rejects(rpc.request('x', {}), { code: 'connection-closed' });
      assert.equal(await closed, undefined);
      assert.equal((await agent.close()).code, 0);
    });
  });

  describe('exit', () => {
    it('keeps only the end of many megabytes of stderr', async () => {
      const agent = await start(`for (let n = 0; n < 100000; n++) require('fs').writeSync(2, 'line ' + n + '\\n')`);
      const { stderr } = await agent.exited;
      assert.equal(stderr.split('\n').length, 20);
      assert.ok(stderr.endsWith('line 99999'));
      assert.ok(agent.stderrTail(1_000_000).length <= 64 * 1024);
    });

    it('is reported even if a grandchild holds the pipes open, and the grandchild is ended', async () => {
      const agent = await start(`
        const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
        process.stdout.write(child.pid + '\\n', () => process.exit(5));`);
      const grandchild = Number(await firstLine(agent));
      assert.equal((await agent.exited).code, 5);
      await agent.close();
      assert.ok(await isGone(grandchild));
    });

    it('ends processes that the agent started in separate sessions', async () => {
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
    it('sends SIGTERM to an agent that ignores the end of its stdin', async () => {
      const agent = await start(`setInterval(() => {}, 1000); console.log('up')`, {
        closeGraceMs: { stdin: 50, term: 5000 },
      });
      await firstLine(agent);
      assert.equal((await agent.close()).signal, 'SIGTERM');
    });

    it('ends an agent that ignores SIGTERM with its whole tree, including children in separate sessions', async () => {
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

    it('gives up on an agent that the system cannot end, and reports it', async () => {
      const warnings: string[] = [];
      const agent = await start('setInterval(() => {}, 1000)', {
        log: { ...silentLog, warn: (line) => warnings.push(line) },
        closeGraceMs: { stdin: 20, term: 20, kill: 20 },
      });
      const { kill } = process;
      // Like a process that hangs in the kernel: it exists, but no signal reaches it.
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

    it('leaves no helper process behind', async () => {
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

    it('may be called repeatedly, and after the exit', async () => {
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
        const [line] = (await once(host.stdout!, 'data')) as [Buffer];
        const [pid, grandchild] = String(line).trim().split(',').map(Number) as [number, number];
        assert.ok(isAlive(pid) && isAlive(grandchild));
        const gone = Promise.all([goneFrom(pid), goneFrom(grandchild)]);
        host.kill('SIGKILL');
        await once(host, 'exit');
        await gone;
      });
    }
  });
});

/**
 * Stands in for the extension host: starts a stubborn agent with a grandchild and prints their ids.
 */
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
