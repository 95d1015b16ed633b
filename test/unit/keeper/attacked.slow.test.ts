// Real keepers during updates, sleep, removed folders, unusual homes, and with stubborn agents.
import assert from 'node:assert/strict';
import { copyFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { KeptProcess } from '../../../src/client/transport/keptProcess';
import { ECHO, Heard, keeperProgram, TestKeepers } from '../../support/keeper/keepers';
import { goneFrom } from '../../support/processes';
import { scratchFolder } from '../../support/scratch';

/** Longer than the keeper's folder check interval, ms. */
const FOLDER_CHECK_MS = 11_000;

describe('a kept agent', function () {
  this.timeout(60_000);
  const keepers = TestKeepers.each();

  const keeperPid = async (): Promise<number> => (await keepers.all.list())[0]?.state?.pid ?? 0;

  async function talk(kept: KeptProcess, heard: Heard, word: string): Promise<readonly number[]> {
    await kept.transport.write(word);
    await heard.line((text) => text.endsWith(` ${word}`));
    return heard.lines.map(({ number }) => number);
  }

  it('continues its turn and commands while the extension is updated and the old version removed', async () => {
    const version = join(await scratchFolder(), 'parley-1.0.0');
    await mkdir(version);
    const program = join(version, 'keeper.js');
    await copyFile(await keeperProgram(), program);
    await keepers.renew({ program });
    const before = await keepers.start(ECHO);
    assert.deepEqual(await talk(before, Heard.from(before), 'before the update'), [1, 2]);
    await before.detach();
    await writeFile(program, 'throw new Error("another version")');
    await rm(version, { recursive: true });
    const { kept, heard } = await keepers.read();
    assert.deepEqual(await talk(kept, heard, 'after the update'), [1, 2, 3]);
    assert.equal((await (await keepers.command(kept, 'process.exitCode = 7')).exited).exitCode, 7);
    await kept.close();
  });

  it("starts if its user's home does not exist", async () => {
    const { HOME } = process.env;
    process.env.HOME = join(await scratchFolder(), 'nowhere');
    try {
      const kept = await keepers.start(ECHO);
      assert.deepEqual(await talk(kept, Heard.from(kept), 'hello'), [1, 2]);
      await kept.close();
    } finally {
      process.env.HOME = HOME;
    }
  });

  it('is found through another path to the same folder', async () => {
    const link = join(await scratchFolder(), 'link');
    await mkdir(keepers.folder, { recursive: true });
    await symlink(keepers.folder, link);
    const linked = await TestKeepers.make({ folder: link });
    const kept = await linked.start(ECHO);
    await Heard.from(kept).line((text) => text === 'ready');
    await kept.detach();
    const { kept: next, heard } = await keepers.read();
    assert.deepEqual(await talk(next, heard, 'hello'), [1, 2]);
    await linked.all.endSessions(['one']);
    await next.exited;
    assert.deepEqual(await keepers.all.list(), []);
  });

  it('keeps serving its window if its folder is removed, and exits when the window closes', async () => {
    const kept = await keepers.start(ECHO);
    const heard = Heard.from(kept);
    assert.deepEqual(await talk(kept, heard, 'one'), [1, 2]);
    const pid = await keeperPid();
    await rm(keepers.folder, { recursive: true });
    await delay(FOLDER_CHECK_MS);
    assert.deepEqual(await talk(kept, heard, 'two'), [1, 2, 3]);
    await kept.detach();
    await Promise.all([pid, kept.pid].map(goneFrom));
  });

  it('loses nothing if the machine sleeps while it writes', async () => {
    const kept = await keepers.start(`
      let n = 0;
      const say = () => { console.log('word ' + n++); if (n < 200) setTimeout(say, 2); };
      process.stdin.once('data', say);
      console.log('ready');`);
    const heard = Heard.from(kept);
    await kept.transport.write('go');
    await heard.line((text) => text === 'word 20');
    const both = [await keeperPid(), kept.pid];
    for (const pid of both) process.kill(pid, 'SIGSTOP');
    await kept.detach();
    const attaching = keepers.attach();
    await delay(500);
    for (const pid of both) process.kill(pid, 'SIGCONT');
    const next = await attaching;
    const after = Heard.from(next);
    next.deliver({ line: 0, open: [] });
    await after.line((text) => text === 'word 199');
    assert.deepEqual(after.texts, ['ready', ...Array.from({ length: 200 }, (_, n) => `word ${n}`)]);
    await next.close();
  });

  it('is killed with its keeper if it ignores the end of stdin and SIGTERM, without a window', async () => {
    const kept = await keepers.startReady(
      `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('ready');`,
      { closeGraceMs: { stdin: 100, term: 100 } },
    );
    const pid = await keeperPid();
    const again = await keepers.attachWith(kept.id, { leaveAfterMs: 50 });
    again.deliver({ line: 1, open: [] });
    again.stored({ line: 1, open: [] });
    await again.detach();
    await Promise.all([pid, kept.pid].map(goneFrom));
  });

  it('is reported as exited although a daemon holds its output open, and the daemon is killed', async () => {
    const note = join(await scratchFolder(), 'daemon');
    const kept = await keepers.start(`
      const daemon = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'inherit' });
      daemon.unref();
      require('fs').writeFileSync(${JSON.stringify(note)}, String(daemon.pid));
      console.log(daemon.pid);
      process.exitCode = 3;
      process.stdin.unref();`);
    const heard = Heard.from(kept);
    const daemon = Number(await heard.line(() => true));
    await kept.detach();
    await goneFrom(kept.pid);
    const { kept: next } = await keepers.read({ line: 1, open: [] });
    assert.equal((await next.exited).code, 3);
    await goneFrom(daemon);
    await next.close();
    assert.deepEqual(await keepers.all.list(), []);
  });
});
