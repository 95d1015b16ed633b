// Listing and ending Windows processes; on Linux with stand-ins for the Windows programs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { WindowsOrphans } from '../../../src/agents/windowsOrphans';
import {
  endBorn,
  endChildrenOf,
  endWindowsTree,
  isBorn,
  listWindowsProcesses,
  ownBirth,
  WINDOWS_GUARD,
} from '../../../src/agents/windowsProcesses';
import { silentLog } from '../../../src/base/log';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { WindowsPrograms } from '../../support/windowsPrograms';

const BORN = Date.parse('2026-03-01T10:00:00Z');
const birth = (pid: number) => ({ pid, after: BORN, before: BORN + 40 });

describe('the birth of a process', () => {
  it('distinguishes it from a later process with its id, and allows for clock ticks', () => {
    const at = (startedAt: number) => isBorn({ pid: 7, parent: 1, startedAt }, birth(7));
    assert.deepEqual(
      [-17, -16, 0, 40, 41].map((ms) => at(BORN + ms)),
      [false, true, true, true, false],
    );
    assert.equal(isBorn({ pid: 8, parent: 1, startedAt: BORN }, birth(7)), false);
  });

  it('is before the first line of this process', () => {
    const { pid, after, before } = ownBirth();
    assert.equal(pid, process.pid);
    assert.ok(after < performance.timeOrigin && performance.timeOrigin <= before);
  });
});

(process.platform === 'win32' ? describe : describe.skip)('taskkill of Windows', () => {
  it('ends a process, even if it fails to end the rest', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    await once(child, 'spawn');
    const ended = once(child, 'exit');
    await endWindowsTree(child.pid ?? 0);
    await ended;
  });
});

(process.platform === 'win32' ? describe.skip : describe)('processes of Windows', () => {
  let programs: WindowsPrograms;

  beforeEach(async () => {
    programs = await WindowsPrograms.install();
  });

  afterEach(async () => {
    programs.end();
    await removeScratch();
  });

  it('are listed with their parents and when they were started', async () => {
    await programs.list([
      { pid: 4, parent: 0, startedAt: BORN },
      { pid: 99, parent: 4, startedAt: BORN + 7 },
    ]);
    assert.deepEqual(await listWindowsProcesses(), [
      { pid: 4, parent: 0, startedAt: BORN },
      { pid: 99, parent: 4, startedAt: BORN + 7 },
    ]);
  });

  it('are listed once for simultaneous callers, and once more for later ones', async () => {
    await programs.list([{ pid: 4, parent: 0, startedAt: BORN }]);
    const asked = [listWindowsProcesses(), listWindowsProcesses()];
    // PowerShell is running now.
    await new Promise(setImmediate);
    asked.push(listWindowsProcesses(), listWindowsProcesses(), listWindowsProcesses());
    for (const rows of await Promise.all(asked)) assert.deepEqual(rows, [{ pid: 4, parent: 0, startedAt: BORN }]);
    assert.equal((await programs.lists()).length, 2);
  });

  it('are listed by a command passed to PowerShell unchanged, without a profile or prompt', async () => {
    await listWindowsProcesses();
    const [line = ''] = await programs.lists();
    assert.match(line, /^-NoLogo -NoProfile -NonInteractive -Command Get-CimInstance /);
    // PowerShell removes double quotes from its command line.
    assert.doesNotMatch(line, /["%\r\n]/);
  });

  it("end with their descendants, by the system's taskkill", async () => {
    await endWindowsTree(42);
    assert.deepEqual(await programs.calls(), ['/pid 42 /T /F']);
  });

  it('end alone if taskkill may not run, and are left alone if it finds none', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    await programs.answer(128);
    await endWindowsTree(child.pid ?? 0);
    assert.equal(child.signalCode, null);
    await programs.answer(1);
    await endWindowsTree(child.pid ?? 0);
    assert.deepEqual(await ended, [null, 'SIGKILL']);
  });

  it('are not ended if another process has their id', async () => {
    await programs.list([
      { pid: 7, startedAt: BORN + 10 },
      { pid: 8, startedAt: BORN + 5000 },
    ]);
    await endBorn([birth(7), birth(8), birth(9)]);
    assert.deepEqual(await programs.calls(), ['/pid 7 /T /F']);
  });

  it('have their children ended, but not those of a later process with their id', async () => {
    await programs.list([
      { pid: 20, parent: 7, startedAt: BORN + 500 },
      { pid: 21, parent: 7, startedAt: BORN + 2000 },
      { pid: 22, parent: 7, startedAt: BORN - 500 },
      { pid: 23, parent: 6, startedAt: BORN + 500 },
    ]);
    await endChildrenOf(birth(7), BORN + 1000);
    assert.deepEqual(await programs.calls(), ['/pid 20 /T /F']);
  });

  describe('whose window has closed', () => {
    const owner = birth(100);
    let folder: string;

    beforeEach(async () => {
      folder = await scratchFolder();
      const left = { host: hostname(), owner, started: [birth(7), birth(8)] };
      await writeFile(join(folder, '100-1.json'), JSON.stringify(left));
    });

    it('are ended at the next start, and their list is removed', async () => {
      await programs.list([
        { pid: 7, startedAt: BORN + 10 },
        { pid: 8, startedAt: BORN + 9000 },
        { pid: 100, startedAt: BORN + 9000 },
      ]);
      await new WindowsOrphans(folder, silentLog).endOthers();
      assert.deepEqual(await programs.calls(), ['/pid 7 /T /F']);
      assert.deepEqual(await readdir(folder), []);
    });

    it('are left alone while the window is open, or its state is unknown', async () => {
      await programs.list([
        { pid: 7, startedAt: BORN + 10 },
        { pid: 100, startedAt: BORN + 10 },
      ]);
      await new WindowsOrphans(folder, silentLog).endOthers();
      await programs.list([]);
      await new WindowsOrphans(folder, silentLog).endOthers();
      assert.deepEqual(await programs.calls(), []);
      assert.deepEqual(await readdir(folder), ['100-1.json']);
    });

    it('are left alone on another machine with the same folder, as are truncated lists', async () => {
      const other = { host: 'elsewhere', owner, started: [birth(7)] };
      await writeFile(join(folder, '100-1.json'), JSON.stringify(other));
      await writeFile(join(folder, '101-1.json'), '{"host":');
      await programs.list([{ pid: 7, startedAt: BORN + 10 }]);
      await new WindowsOrphans(folder, silentLog).endOthers();
      assert.deepEqual(await programs.calls(), []);
    });

    it('are listed while they run, for the next start', async () => {
      const own = join(folder, 'own');
      const orphans = new WindowsOrphans(own, silentLog);
      orphans.add(birth(7));
      orphans.add(birth(8));
      orphans.delete(7);
      await orphans.written;
      const [name = ''] = await readdir(own);
      const { host, owner: window, started } = JSON.parse(await readFile(join(own, name), 'utf8'));
      assert.deepEqual([host, window.pid, started], [hostname(), process.pid, [birth(8)]]);
      orphans.delete(8);
      await orphans.written;
      assert.deepEqual(await readdir(own), []);
    });
  });

  it('are ended by the guard when the window dies, as are the children of exited ones', async () => {
    const now = Date.now();
    await programs.list([
      { pid: 7, startedAt: now - 50_000 },
      { pid: 8, startedAt: now + 500 },
      { pid: 30, parent: 8, startedAt: now - 40_000 },
      { pid: 31, parent: 8, startedAt: now + 60_000 },
      { pid: 32, parent: 9, startedAt: now - 40_000 },
    ]);
    const guard = spawn(process.execPath, ['-e', WINDOWS_GUARD], { stdio: ['pipe', 'ignore', 'inherit'] });
    for (const pid of [7, 8, 9]) guard.stdin.write(`+ ${pid} ${now - 50_010} ${now - 49_990}\n`);
    guard.stdin.end('- 9\n');
    assert.deepEqual(await once(guard, 'exit'), [0, null]);
    assert.deepEqual(await programs.calls(), ['/pid 30 /T /F', '/pid 7 /T /F']);
  });
});
