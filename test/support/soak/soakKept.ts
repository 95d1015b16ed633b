// Windows, keepers and agents that are killed again and again at random moments while messages are
// typed all along: what arrived, and how often.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FoundKeeper, Keepers } from '../../../src/client/transport/keepers';
import type { FaultWindow } from '../faults/faultWindow';
import { keeperProgram } from '../keeper/keepers';
import { keepersOf, openKept } from '../keeper/keptWindow';
import { isAlive } from '../processes';
import { scratchFolder } from '../scratch';
import { seeded } from '../store/random';
import { WorkerProgram } from '../store/spawnWorker';
import { COMMAND_MS, goOn, killIfAlive } from './soak';

/** Kills in one session; a longer one would mostly measure its log. */
const KILLS_IN_SESSION = 20;
export const VICTIMS = ['window', 'keeper', 'window and keeper', 'agent', 'window and agent'] as const;

export interface KeptSoakResult {
  readonly kills: Readonly<Record<(typeof VICTIMS)[number], number>>;
  readonly inCommands: number;
  readonly typed: number;
  readonly received: number;
  readonly lost: number;
  readonly twice: number;
}

export async function soakKept(
  kills: number,
  seed: number,
  check: (window: FaultWindow) => void,
): Promise<KeptSoakResult> {
  const sums = { typed: 0, received: 0, lost: 0, twice: 0 };
  const counts = { window: 0, keeper: 0, 'window and keeper': 0, agent: 0, 'window and agent': 0 };
  let inCommands = 0;
  const random = seeded(seed);
  const program = await keeperProgram();
  const worker = await WorkerProgram.make('test/support/soak/soakWindowProcess.ts');
  try {
    for (let done = 0; done < kills; ) {
      const folder = await scratchFolder();
      const keepers = keepersOf(folder, program);
      const count = Math.min(KILLS_IN_SESSION, kills - done);
      let windows = 0;
      const start = async () => {
        const next = worker.start([folder, program, String(random(1_000_000)), `w${windows++}`]);
        await next.next();
        return next;
      };
      let window = await start();
      for (let kill = 0; kill < count; kill++) {
        const victim = VICTIMS[random(10) < 6 ? 0 : random(VICTIMS.length)] ?? 'window';
        await new Promise((resolve) => setTimeout(resolve, random(250)));
        if (random(2) === 0) await commandRuns(keepers);
        const [found] = await keepers.list();
        if (runsCommand(found)) inCommands++;
        if (victim.endsWith('keeper') && found?.state) killIfAlive(found.state.pid);
        if (victim.endsWith('agent') && found?.state) killIfAlive(found.state.agentPid);
        counts[victim]++;
        if (!victim.startsWith('window')) continue;
        await window.kill();
        window = await start();
      }
      await window.kill();
      const last = openKept(folder, program, Date.now);
      await goOn(last);
      const typed = readFileSync(join(folder, 'typed'), 'utf8').trim().split('\n');
      const row = last.account('kept', typed);
      for (const key of ['typed', 'received', 'lost', 'twice'] as const) sums[key] += row[key];
      check(last);
      await last.close();
      for (const { id } of await keepers.list()) await keepers.end(id);
      done += count;
    }
  } finally {
    await worker.dispose();
  }
  return { kills: counts, inCommands, ...sums };
}

function runsCommand(found: FoundKeeper | undefined): boolean {
  return found?.state?.commands?.some(({ pid }) => pid !== undefined && isAlive(pid)) === true;
}

async function commandRuns(keepers: Keepers): Promise<void> {
  const until = performance.now() + COMMAND_MS;
  while (performance.now() < until && !runsCommand((await keepers.list())[0]))
    await new Promise((resolve) => setTimeout(resolve, 10));
}
