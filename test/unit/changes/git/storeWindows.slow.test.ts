// Windows in separate processes share a store: one collects while another records states, and some
// are killed.
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { FileVersion, Snapshot } from '../../../../src/changes/model/fileChange';
import { StateWindow } from '../../../support/changes/stateWindow';
import { seeded } from '../../../support/store/random';
import { WorkerProgram } from '../../../support/store/spawnWorker';
import { environment, inShort, makePlace, openStates, type Place } from './folders';

const SCHEDULES = 30;
const KILLS = 30;

describe('windows that share a store', function () {
  this.timeout(120_000);
  let place: Place;
  let program: WorkerProgram;
  const windows: StateWindow[] = [];
  before(async () => {
    program = await WorkerProgram.make('test/support/changes/stateWindowProcess.ts');
  });
  after(() => program.dispose());
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(async () => {
    for (const window of windows.splice(0)) await window.kill();
    place.dispose();
  });

  const start = (): StateWindow => {
    const window = new StateWindow(program.start([place.folder, place.storage], [], environment(place)));
    windows.push(window);
    return window;
  };
  const store = (): string => join(place.storage, readdirSync(place.storage)[0]!);

  /** Makes all objects look two days old, so that only needed ones survive. */
  function age(): void {
    const old = new Date(Date.now() - 48 * 60 * 60 * 1000);
    for (const entry of readdirSync(join(store(), 'objects'), { withFileTypes: true, recursive: true })) {
      if (entry.isFile()) utimesSync(join(entry.parentPath, entry.name), old, old);
    }
  }

  /** States and contents missing from the store. */
  function lacking(ids: readonly string[]): readonly string[] {
    const args = ['rev-list', '--objects', '--no-object-names', '--missing=print', '--stdin'];
    const env = { ...process.env, GIT_DIR: store() };
    const { status, stdout, stderr } = spawnSync('git', args, { env, input: ids.join('\n'), encoding: 'utf8' });
    if (status !== 0) return [stderr];
    return stdout.split('\n').filter((line) => line.startsWith('?'));
  }

  const trees = (snapshots: Iterable<Snapshot>): readonly string[] =>
    [...snapshots].flatMap(({ folders }) => folders.map(({ tree }) => tree));

  /** Few contents, so that held states share them with released ones. */
  function someFiles(random: (below: number) => number): Record<string, string> {
    const files = Array.from({ length: 1 + random(4) }, () => [`d${random(4)}/f${random(3)}`, `${random(3)}\n`]);
    return Object.fromEntries(files);
  }

  it('keep newly stored states while another window collects garbage', async () => {
    const [taking, collecting] = [start(), start()];
    const held = new Map<string, Snapshot>();
    const contents: FileVersion[] = [];
    const turn = async (random: (below: number) => number, files = someFiles(random)): Promise<void> => {
      const name = random(3) === 0 ? undefined : `turn ${random(4)}`;
      const { snapshot } = await taking.run({ do: 'turn', files, ...(name && { hold: name }) });
      assert.deepEqual(snapshot?.gaps, []);
      if (snapshot && name) held.set(name, snapshot);
    };
    await turn(seeded(0));
    for (let seed = 1; seed <= SCHEDULES; seed++) {
      const random = seeded(seed);
      age();
      collecting.tell({ do: 'collect' });
      await setTimeout(random(40));
      for (let step = 0; step < 3; step++) {
        // A window reuses its last state for an hour, less than the aging.
        await turn(random, { ...someFiles(random), ...(step === 0 && { schedule: `${seed}\n` }) });
        const content = `content ${random(20)}\n`;
        if (random(2) === 0) contents.push((await taking.run({ do: 'write', content })).version!);
        const released = `turn ${random(4)}`;
        if (random(3) === 0 && held.delete(released)) await taking.run({ do: 'release', name: released });
      }
      await collecting.answer();
      const ids = [...trees(held.values()), ...contents.map(({ oid }) => oid)];
      assert.deepEqual(lacking(ids), [], `schedule ${seed}`);
    }
  });

  it('keep all held states when one window is killed', async () => {
    const random = seeded(7);
    const held = new Map<string, Snapshot>();
    for (let kill = 0; kill < KILLS; kill++) {
      const window = start();
      // The first response shows that it has started.
      const steps = Array.from({ length: 12 }, (_, step) => ({ name: `${kill} ${step}`, files: someFiles(random) }));
      for (const { name, files } of steps) {
        window.tell({ do: 'turn', files, hold: name });
        if (random(6) === 0) window.tell({ do: 'collect' });
      }
      let answered = 0;
      const first = await window.answer();
      if (first?.snapshot) held.set(steps[answered++]!.name, first.snapshot);
      await Promise.all([
        setTimeout(random(200)).then(() => window.kill()),
        (async () => {
          for (let answer = await window.answer(); answer; answer = await window.answer()) {
            if (answer.snapshot) held.set(steps[answered++]!.name, answer.snapshot);
          }
        })(),
      ]);
      assert.deepEqual(lacking(trees(held.values())), [], `kill ${kill}`);
    }
    const states = openStates(place);
    try {
      const before = await states.take();
      assert.deepEqual(before.gaps, []);
      await start().run({ do: 'turn', files: { 'after.txt': 'a\n' } });
      assert.deepEqual(inShort(await states.changes(before, await states.take())), ['A after.txt +1 -0']);
      for (const snapshot of held.values()) {
        for (const { after } of await states.changes(before, snapshot)) {
          if (after) assert.equal((await states.read(place.folder, after)).length, after.size);
        }
      }
    } finally {
      states.dispose();
    }
  });
});
