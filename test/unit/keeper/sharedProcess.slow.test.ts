// One process hosts the keepers of all windows, isolated from each other.
import assert from 'node:assert/strict';
import { appendFile, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostEnvironment } from '../../../src/agents/agentEnvironment';
import { silentLog } from '../../../src/base/log';
import { KeeperSocket } from '../../../src/client/transport/keeperSocket';
import type { KeptProcess } from '../../../src/client/transport/keptProcess';
import { frame, jsonFrame, PURPOSE } from '../../../src/keeper/wire';
import { ECHO, Heard, keeperProgram, someone, TestKeepers } from '../../support/keeper/keepers';
import { goneFrom, isAlive } from '../../support/processes';
import { scratchFolder } from '../../support/scratch';

describe('the keeper process', function () {
  this.timeout(60_000);
  const keepers = TestKeepers.each();

  const about = (session: string): { readonly about: typeof someone } => ({ about: { ...someone, session } });
  const processOf = async ({ id }: KeptProcess): Promise<number> => (await keepers.place(id)).pid;
  const another = (program?: string): Promise<TestKeepers> =>
    TestKeepers.make({ folder: keepers.folder, ...(program !== undefined && { program }) });

  function startAll(...sessions: readonly string[]): Promise<KeptProcess[]> {
    return Promise.all(sessions.map((session) => keepers.start(ECHO, about(session))));
  }

  async function assertAnswers(kept: KeptProcess, heard: Heard, word: string): Promise<void> {
    await kept.transport.write(word);
    await heard.line((text) => text.endsWith(` ${word}`));
  }

  it('is shared even if two windows need it simultaneously', async () => {
    const windows = [await another(), await another(), await another()];
    const kept = await Promise.all(windows.map((window, n) => window.start(ECHO, about(`${n}`))));
    assert.equal(new Set(await Promise.all(kept.map(processOf))).size, 1);
  });

  it('exits with its last agent, leaving nothing behind', async () => {
    const [one, two] = await startAll('a', 'b');
    assert.ok(one && two);
    const pid = await processOf(one);
    await one.close();
    assert.ok(isAlive(pid));
    await two.close();
    await goneFrom(pid);
    assert.deepEqual(await readdir(keepers.folder), []);
  });

  it('gives each agent and its commands the environment, folder and umask of their window', async () => {
    const told = `console.log([process.env.MINE, process.env.FIRST, process.cwd(), process.umask()].join(' '))`;
    const env = { PATH: process.env.PATH ?? '' };
    const own = process.umask(0o027);
    try {
      await keepers.start(ECHO, { ...about('first'), env: { ...hostEnvironment(process.env), FIRST: 'secret' } });
      process.umask(0o002);
      const kept = await keepers.start(`${told}; process.stdin.resume()`, {
        ...about('second'),
        env: { ...env, MINE: '2' },
        cwd: '/',
      });
      assert.equal(await Heard.from(kept).line(() => true), `2  / ${0o002}`);
      const said: string[] = [];
      const command = await keepers.command(kept, told, {
        env: { ...env, MINE: '3' },
        onChange: ({ append = '' }) => said.push(append),
      });
      await command.exited;
      assert.equal(said.join(''), `3  / ${0o002}\n`);
    } finally {
      process.umask(own);
    }
  });

  it('keeps other agents running if one floods, one crashes and one window sends garbage', async () => {
    const [quiet] = await startAll('quiet');
    assert.ok(quiet);
    const heard = Heard.from(quiet);
    const flood = await keepers.start(
      `const line = 'x'.repeat(65535) + '\\n'; const say = () => process.stdout.write(line, say); say();`,
      about('flood'),
    );
    // Without a reader, its output is retained up to the limit.
    await flood.detach();
    const endless = await keepers.start(`process.stdout.write('x'.repeat(4e6)); process.stdin.resume()`, about('line'));
    await endless.detach();
    const crashed = await keepers.start('process.abort()', about('crash'));
    await Heard.from(crashed).ended;
    for (const bytes of [frame(1, 0, Buffer.alloc(300)), Buffer.alloc(10_000, 255), jsonFrame(6, { no: 'batch' })]) {
      const { socket } = await KeeperSocket.open(await keepers.place(quiet.id), PURPOSE.look);
      socket.send(bytes);
      socket.destroy();
      const other = (await KeeperSocket.open(await keepers.place(flood.id), PURPOSE.attach)).socket;
      other.send(bytes);
      other.destroy();
    }
    for (let n = 0; n < 50; n++) {
      const began = performance.now();
      await assertAnswers(quiet, heard, `word ${n}`);
      assert.ok(performance.now() - began < 1_000, 'an answer is not held up by the others');
    }
    const found = await keepers.all.list();
    assert.ok(found.every(({ kind }) => kind === 'alive'));
    const state = found.find(({ about: { session } }) => session === 'flood')?.state;
    assert.ok((state?.bytes ?? 0) <= 129 * 1024 * 1024);
  });

  it('ends all agents when killed, notifies all windows, and is replaced by the next start', async () => {
    const kept = await startAll('a', 'b', 'c');
    const [first] = kept;
    assert.ok(first);
    const pid = await processOf(first);
    process.kill(pid, 'SIGKILL');
    for (const one of kept) {
      assert.deepEqual(await one.exited.then(({ code, signal }) => [code, signal]), [null, null]);
      await goneFrom(one.pid);
    }
    assert.deepEqual([await keepers.all.list(), await keepers.left()], [[], []]);
    const again = await startAll('a', 'b', 'c');
    assert.equal(new Set(await Promise.all(again.map(processOf))).size, 1);
    for (const one of again) await assertAnswers(one, Heard.from(one), 'back');
  });

  it('is killed if it hangs when the user ends an agent, and replaced', async () => {
    const [kept] = await startAll('a');
    assert.ok(kept);
    const pid = await processOf(kept);
    process.kill(pid, 'SIGSTOP');
    await keepers.all.end(kept.id);
    for (const each of [pid, kept.pid]) await goneFrom(each);
    const [again] = await startAll('a');
    assert.ok(again);
    await assertAnswers(again, Heard.from(again), 'back');
  });

  it('is not killed because of one unreachable agent', async () => {
    const [lost, other] = await startAll('lost', 'other');
    assert.ok(lost && other);
    const path = join(keepers.folder, lost.id, 'keeper.json');
    await lost.detach();
    await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), token: 'another' }));
    await keepers.all.end(lost.id);
    await goneFrom(lost.pid);
    await assertAnswers(other, Heard.from(other), 'still here');
  });

  it('is separate for each version, and all versions can attach to it', async () => {
    const folder = await scratchFolder();
    await mkdir(folder, { recursive: true });
    const program = join(folder, 'keeper.js');
    await copyFile(await keeperProgram(), program);
    await appendFile(program, '\n// The next version.\n');
    const next = await another(program);
    const one = await keepers.start(ECHO, about('one'));
    const two = await next.start(ECHO, about('two'));
    assert.notEqual(await processOf(one), await processOf(two));
    await one.detach();
    const attached = await next.all.attach('one', { log: silentLog });
    assert.equal(attached?.pid, one.pid);
    assert.equal((await keepers.all.list()).length, 2);
    await keepers.all.endSessions(['two']);
    assert.equal((await two.exited).code, 0);
  });

  it('of an earlier version with one agent can be attached to and ended', async () => {
    const kept = await keepers.start(ECHO);
    const path = join(keepers.folder, kept.id, 'keeper.json');
    const { shared: _, ...earlier } = JSON.parse(await readFile(path, 'utf8'));
    await kept.detach();
    await writeFile(path, JSON.stringify(earlier));
    const { kept: next, heard } = await keepers.read();
    await assertAnswers(next, heard, 'hello');
    await next.detach();
    const { pid, socket } = await keepers.place(kept.id);
    await rm(socket);
    await keepers.all.end(kept.id);
    for (const each of [pid, kept.pid]) await goneFrom(each);
  });

  it('lists running commands, and kills a single one for a connection that only looks', async () => {
    const kept = await keepers.start(ECHO);
    await keepers.command(kept, 'setInterval(() => {}, 1e6)');
    const commands = async () => (await keepers.all.list())[0]?.state?.commands?.map(({ isRunning }) => isRunning);
    assert.deepEqual(await commands(), [true]);
    await (await another()).all.endCommand(kept.id, 'c1');
    assert.deepEqual(await commands(), [false]);
    await assertAnswers(kept, Heard.from(kept), 'still here');
  });
});
