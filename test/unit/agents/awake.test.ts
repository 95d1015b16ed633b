// Keeping the machine awake while agents work, with stand-ins for system programs on PATH.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { Awake, type AwakePolicy, awakeProgram, isOnBattery } from '../../../src/agents/awake';
import { LIST_PROGRAM, systemProgram } from '../../../src/agents/windowsProcesses';
import { silentLog } from '../../../src/base/log';
import { goneFrom, isGone } from '../../support/processes';
import { removeScratch, scratchFile, scratchFolder } from '../../support/scratch';

const SYSTEMS = ['darwin', 'linux', 'win32'] as const;
const SETTLE_MS = 10;

(process.platform === 'win32' ? describe.skip : describe)('the machine', () => {
  const before = { PATH: process.env.PATH, SystemRoot: process.env.SystemRoot };
  let folder: string;
  let works: boolean;
  let battery: boolean;
  let asked: number;
  let policy: AwakePolicy;
  let said: string[];
  let awake: Awake;

  const log = { ...silentLog, info: (text: string) => void said.push(text) };
  const use = (platform: NodeJS.Platform): Awake => {
    awake = new Awake({
      policy: () => policy,
      isWorking: () => works,
      isOnBattery: async () => {
        asked += 1;
        return battery;
      },
      platform,
      log,
      settleMs: SETTLE_MS,
    });
    return awake;
  };
  const pids = async (): Promise<readonly number[]> =>
    (await readFile(join(folder, 'started'), 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number);
  const started = async (count = 1): Promise<number> => {
    for (;;) {
      const found = await pids();
      if (found.length >= count) return found[count - 1] ?? 0;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const settled = (times = 8): Promise<void> => new Promise((resolve) => setTimeout(resolve, times * SETTLE_MS));

  beforeEach(async () => {
    folder = await scratchFolder();
    [works, battery, asked, policy, said] = [true, false, 0, 'onPower', []];
    process.env.SystemRoot = folder;
    process.env.PATH = `${folder}${delimiter}${before.PATH}`;
    const note = `#!/bin/sh\necho $$ >> '${folder}/started'\n`;
    await scratchFile(folder, 'caffeinate', `${note}while kill -s 0 "$3" 2>/dev/null; do sleep 0.02; done\n`);
    await scratchFile(folder, 'systemd-inhibit', `${note}for last; do :; done\n"$last"\n`);
    await scratchFile(folder, systemProgram(LIST_PROGRAM), `${note}cat\n`);
  });

  afterEach(async () => {
    awake?.dispose();
    for (const pid of await pids()) await goneFrom(pid);
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await removeScratch();
  });

  for (const platform of SYSTEMS) {
    it(`stays awake on ${platform} only while an agent works, with one process`, async () => {
      use(platform).changed();
      const pid = await started();
      for (let turn = 0; turn < 3; turn++) {
        awake.changed();
        await settled(2);
      }
      works = false;
      awake.changed();
      await goneFrom(pid);
      assert.deepEqual([await pids(), said, asked], [[pid], [], 1]);
    });

    it(`may sleep again on ${platform} when the extension host is killed`, async () => {
      const host = spawn(process.execPath, ['-e', HOST, platform, JSON.stringify(awakeProgram(platform, 0))]);
      const pid = await started();
      host.kill('SIGKILL');
      await once(host, 'exit');
      await goneFrom(pid);
    });
  }

  it('stays awake between two consecutive turns', async () => {
    use('linux').changed();
    const pid = await started();
    works = false;
    awake.changed();
    await settled(1);
    works = true;
    awake.changed();
    await settled();
    assert.deepEqual([await isGone(pid), await pids()], [false, [pid]]);
  });

  it('may sleep on battery unless set to "always", and if turned off', async () => {
    battery = true;
    use('linux').changed();
    await settled();
    policy = 'off';
    awake.changed();
    await settled();
    assert.deepEqual(await pids(), []);
    policy = 'always';
    awake.changed();
    const pid = await started();
    policy = 'onPower';
    awake.changed();
    await goneFrom(pid);
  });

  it('may sleep, with one line in the log, if the program is missing', async () => {
    process.env.PATH = folder;
    await rm(join(folder, 'systemd-inhibit'));
    use('linux').changed();
    await settled();
    awake.changed();
    await settled();
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', /may sleep.*systemd-inhibit ENOENT/);
  });

  it('may sleep after the user has ended the program', async () => {
    use('linux').changed();
    process.kill(await started());
    while (said.length === 0) await settled(1);
    awake.changed();
    await settled();
    assert.equal((await pids()).length, 1);
  });

  it('may sleep when the window closes', async () => {
    use('linux').changed();
    const pid = await started();
    awake.dispose();
    await goneFrom(pid);
    awake.changed();
    await settled();
    assert.deepEqual(await pids(), [pid]);
  });

  it('runs on battery if the system says so', async () => {
    const supply = async (name: string, files: Readonly<Record<string, string>>): Promise<void> => {
      await mkdir(join(folder, 'supplies', name), { recursive: true });
      for (const [file, text] of Object.entries(files))
        await writeFile(join(folder, 'supplies', name, file), `${text}\n`);
    };
    const linux = (): Promise<boolean> => isOnBattery('linux', join(folder, 'supplies'));
    assert.equal(await linux(), false);
    await supply('AC', { type: 'Mains', online: '1' });
    await supply('mouse', { type: 'Battery', scope: 'Device', status: 'Discharging' });
    await supply('BAT0', { type: 'Battery', status: 'Charging' });
    assert.equal(await linux(), false);
    await supply('BAT0', { type: 'Battery', status: 'Discharging' });
    assert.equal(await linux(), true);
    for (const [source, expected] of [
      ['AC Power', false],
      ['Battery Power', true],
    ] as const) {
      await scratchFile(folder, 'pmset', `#!/bin/sh\necho "Now drawing from '${source}'"\n`);
      assert.equal(await isOnBattery('darwin'), expected, source);
    }
    for (const [status, expected] of [
      ['2', false],
      ['', false],
      ['1', true],
    ] as const) {
      await scratchFile(folder, systemProgram(LIST_PROGRAM), `#!/bin/sh\nprintf '${status}\\r\\n'\n`);
      assert.equal(await isOnBattery('win32'), expected, status);
    }
  });
});

/** A process that starts the program like Awake, and then hangs. */
const HOST = `
const [platform, program] = process.argv.slice(1);
const { file, args } = JSON.parse(program);
if (platform === 'darwin') args[2] = String(process.pid);
require('child_process').spawn(file, args, { stdio: ['pipe', 'ignore', 'ignore'] });
setInterval(() => {}, 1000);
`;
