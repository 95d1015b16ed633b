// Real keepers with two competing windows, other users, and full disks.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { KeptProcess } from '../../../src/client/transport/keptProcess';
import { textOf } from '../../../src/session/model/entryText';
import { thisMachine } from '../../../src/store/file/machine';
import { FaultWindow, keepingAgent } from '../../support/faults/faultWindow';
import { ECHO, Heard, TestKeepers } from '../../support/keeper/keepers';
import { isAlive } from '../../support/processes';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { SmallDisk } from '../../support/smallDisk';

const NOBODY = 65534;

describe('a kept agent', function () {
  this.timeout(60_000);
  let keepers: TestKeepers;
  let disk: SmallDisk | undefined;

  beforeEach(async () => {
    keepers = await TestKeepers.make();
  });

  afterEach(async () => {
    await keepers.end();
    disk?.unmount();
    disk = undefined;
    await removeScratch();
  });

  it('belongs to exactly one of two windows that attach simultaneously, and notifies the other', async () => {
    const started = await keepers.startReady(ECHO);
    await started.detach();
    const written: string[] = [];
    for (let round = 0; round < 50; round++) {
      const windows = await Promise.all([keepers.attach(), keepers.attach()]);
      const heard = windows.map(Heard.from);
      for (const window of windows) window.deliver({ line: 0, open: [] });
      // Either may win, since both connect before they know.
      for (const [index, window] of windows.entries())
        await window.transport.write(`${round}-${index}`).catch(() => {});
      const loser = await Promise.race(windows.map((window) => window.lost.then(() => window)));
      const owner = windows[windows[0] === loser ? 1 : 0] as KeptProcess;
      await assert.rejects(loser.transport.write('of the one that lost it'), { code: 'connection-closed' });
      assert.equal((await keepers.all.list())[0]?.state?.isAttached, true);
      const last = `${round} of the owner`;
      await owner.transport.write(last);
      const mine = heard[windows.indexOf(owner)] as Heard;
      await mine.line((text) => text.endsWith(` ${last}`));
      written.push(last);
      const texts = mine.texts.map((text) => text.replace(/^\d+ /, ''));
      assert.equal(new Set(texts).size, texts.length, 'no message was written twice');
      assert.deepEqual(
        mine.lines.map(({ number }) => number),
        mine.lines.map((_, index) => index + 1),
        'each line came once, in order',
      );
      for (const one of written) assert.ok(texts.includes(one), one);
      assert.equal(await hasSettled(owner.lost), false);
      await Promise.all(windows.map((window) => window.detach()));
    }
  });

  it("can't be reached by another user", async function () {
    if (process.getuid?.() !== 0) this.skip(); // only root can switch users
    const kept = await keepers.start(ECHO);
    const { socket } = await keepers.place(kept.id);
    // Everything up to the keeper's own folder is accessible to all users.
    for (let folder = dirname(keepers.folder); folder !== '/' && folder !== '/tmp'; folder = dirname(folder))
      await chmod(folder, 0o755);
    const open = join(dirname(keepers.folder), 'open.sock');
    const server = createServer((one) => one.end()).listen(open);
    await once(server, 'listening');
    await chmod(open, 0o777);
    try {
      assert.equal(await connectedAs(NOBODY, open), 'connected', 'another user can connect to what is open');
      assert.equal(await connectedAs(NOBODY, socket), 'EACCES');
      assert.equal(await connectedAs(0, socket), 'connected');
    } finally {
      server.close();
    }
    assert.ok(isAlive(kept.pid));
  });

  it("waits while its keeper's disk is full, and loses nothing", async function () {
    const folder = join(await scratchFolder(), 'full');
    const mounted = SmallDisk.mount(folder, 2);
    if (typeof mounted === 'string') this.skip();
    disk = mounted;
    const small = await TestKeepers.make({ folder });
    const kept = await small.startReady(`
      const line = 'x'.repeat(1023) + '\\n';
      let left = 16;
      const say = () => { if (left-- > 0) process.stdout.write(line.repeat(1024), say); else console.log('all'); };
      console.log('ready'); process.stdin.once('data', say);`);
    await kept.transport.write('go');
    await kept.detach();
    const state = async () => (await small.all.list())[0]?.state;
    while (!(await state())?.isHeld);
    assert.ok(isAlive(kept.pid), 'the agent waits');
    assert.equal((await state())?.ended, undefined);
    disk.grow(64);
    const { kept: next, heard } = await small.read({ line: 1, open: [] });
    await heard.line((text) => text === 'all');
    assert.equal(heard.lines.length, 16 * 1024 + 1);
    assert.ok(heard.lines.every(({ text }) => text.length === 1023 || text === 'all'));
    await next.close();
  });

  it("continues while the journal's disk is full, notifies the user, and is complete afterwards", async function () {
    const folder = await scratchFolder();
    const mounted = SmallDisk.mount(join(folder, 'journal'), 2);
    if (typeof mounted === 'string') this.skip();
    disk = mounted;
    const dead = new Set<number>();
    const open = (pid: number): FaultWindow => {
      const agent = keepingAgent(folder, { turnComplete: true });
      const machine = { ...thisMachine, pid, isAlive: (one: number) => !dead.has(one), startOf: () => '1' };
      const window = new FaultWindow({ folder, agent, services: { keepers: keepers.all }, journal: { machine } });
      void window.conversation.start();
      return window;
    };
    const first = open(1);
    // A call before each megabyte, since they would be merged into one message.
    const megabytes = Array.from({ length: 16 }, (_, index) => {
      const call = { sessionUpdate: 'tool_call', toolCallId: `t${index}`, title: `Look ${index}`, status: 'completed' };
      return `update ${JSON.stringify(call)}\nhuge 1`;
    });
    const { done } = first.conversation.send(`say <m0>\n${megabytes.join('\n')}`);
    assert.equal((await done).stopReason, 'end_turn');
    const { state } = first.journal;
    assert.ok(state.kind === 'memory');
    assert.deepEqual(
      [state.problem, state.message],
      ['full', 'The disk is full, so sessions are kept in memory only.'],
    );
    const [found] = await keepers.all.list();
    assert.equal(found?.state?.ended, undefined);
    assert.ok((found?.state?.bytes ?? 0) > 12 * 1024 * 1024, 'what the disk does not have stays with the keeper');
    const { agentPid } = first;
    await first.conversation.close('window-ended');
    first.journal.dispose();
    dead.add(1); // its lease can't be returned
    disk.grow(256);
    const second = open(2);
    await second.session.until((c) => c.connection.kind === 'ready' && !c.isBusy && c.model.state.turns.length > 0);
    const said = second.conversation.model.state.entries.flatMap((entry) =>
      entry.kind === 'agent' ? [textOf(entry).length] : [],
    );
    assert.equal(
      said.filter((length) => length === 1024 * 1024).length,
      16,
      `${said.join()}: each megabyte is here once`,
    );
    assert.deepEqual(
      second.conversation.model.state.turns.map(({ stopReason }) => stopReason),
      ['end_turn'],
    );
    assert.equal(second.agentPid, agentPid, 'it is the same agent');
    assert.equal(second.account('full', ['m0']).received, 1);
    await second.close();
  });
});

async function hasSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol();
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

async function connectedAs(uid: number, path: string): Promise<string> {
  const script = `const s = require('net').connect(process.argv[1]);
    s.on('connect', () => { console.log('connected'); s.destroy(); }).on('error', (e) => console.log(e.code));`;
  const child = spawn(process.execPath, ['-e', script, path], {
    uid,
    gid: uid,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
  await once(child, 'close');
  return Buffer.concat(said).toString().trim();
}
