// Real processes: how an agent is started, read and ended, with nothing left behind.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describeExit, type StartOptions, TailBuffer } from '../../../src/agents/agentProcess';
import { descendantsOf, stillAlive } from '../../../src/agents/processTree';
import { Deferred } from '../../../src/base/deferred';
import { inEnglish } from '../../../src/base/localizable';
import { silentLog } from '../../../src/base/log';
import { scratchFile, scratchFolder } from '../../support/scratch';
import { closeAgents, connect, echo, output, start } from './startedAgents';

describe('AgentProcess', function () {
  this.timeout(20_000);

  afterEach(closeAgents);

  describe('start', () => {
    it('passes arguments unchanged: spaces, quotes, percent, dollar, line breaks', async () => {
      const args = ['a b', 'say "hi"', "it's", '%PATH%', '$HOME', '`id`', '*', '', 'é\u2028', 'x\ny', '\\', '&& exit'];
      const agent = await start('', {
        args: ['-e', 'process.stdout.write(JSON.stringify(process.argv.slice(1)))', '--', ...args],
      });
      assert.deepEqual(JSON.parse(await output(agent)), args);
    });

    it("passes the agent's folder and environment, plus only a mark", async () => {
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

    it('reports why a process did not start', async () => {
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

    it('delivers output from before there was a listener, even if the agent has exited', async () => {
      const agent = await start('process.stdout.write("early\\n")');
      const exit = await agent.exited;
      assert.equal(exit.code, 0);
      assert.equal(await output(agent), 'early\n');
    });
  });

  describe('conversation', () => {
    it('rejects a message to an agent that has closed its stdin, without crashing', async () => {
      const agent = await start(
        `require('fs').closeSync(0); process.stdout.write('{"method":"closed"}\\n'); setInterval(() => {}, 1000);`,
        { closeGraceMs: { stdin: 50, term: 2000 } },
      );
      const closedItsStdin = new Deferred<void>();
      const { rpc } = connect(agent, { onNotification: () => closedItsStdin.resolve() });
      await closedItsStdin.promise;
      // The system may accept a first write before it reports the broken pipe.
      await rpc.notify('one', {}).catch(() => {});
      await assert.rejects(rpc.request('two', {}), { code: 'connection-closed' });
    });

    it('ignores a banner and garbage around messages', async () => {
      const agent = await start(`console.log('Welcome!\\n{not json'); process.stdout.write('\\ufeff\\r\\n'); ${echo}`);
      const { rpc, noise } = connect(agent);
      assert.deepEqual(await rpc.request('echo', { a: 1 }), { a: 1 });
      assert.deepEqual(noise.slice(0, 2), ['Welcome!', '{not json']);
    });

    it('rejects pending requests after the last output when the agent dies', async () => {
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
  });

  describe('exit', () => {
    it('reports the exit code and output of an agent that fails immediately', async () => {
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
  });
});

it('a process is distinguished by its start time from an earlier one with the same id', async function () {
  if (process.platform === 'win32') this.skip();
  const self = (await descendantsOf(process.ppid)).find(({ pid }) => pid === process.pid) ?? assert.fail();
  assert.deepEqual(await stillAlive([self]), [self]);
  assert.deepEqual(await stillAlive([{ ...self, started: `1${self.started}` }]), []);
});

it('the tail of an output has whole lines, or the end of a line that is too long', () => {
  const tail = new TailBuffer(20);
  for (let n = 0; n < 1000; n++) tail.append(`line ${n}\n`);
  assert.deepEqual([tail.toString(), tail.lines(1)], ['line 998\nline 999\n', 'line 999']);
  const short = new TailBuffer(10);
  assert.deepEqual([short.toString(), short.lines(5)], ['', '']);
  short.append('ab\ncd');
  assert.equal(short.toString(), 'ab\ncd');
  short.append('x'.repeat(100));
  assert.equal(short.toString(), 'x'.repeat(10));
});
