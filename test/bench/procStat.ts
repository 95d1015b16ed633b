// What Linux knows of a process: the processor time that it used, its largest memory.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds of one tick of /proc: every Linux of today counts in hundredths of a second. */
const TICK_MS = 10;
const LOOK_MS = 200;
/** Below this share of all processors the machine counts as quiet. */
const QUIET_SHARE = 0.15;
const PATIENCE_MS = 20_000;

/** Processor time of a process so far, user and system, in milliseconds. 0 where it has ended. */
export function cpuMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
}

/** The most memory that a process ever had resident, in MB of 2^20 bytes. */
export function peakMb(pid: number): number {
  const match = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(match?.[1]) / 1024;
}

/**
 * Waits until the whole machine does nearly nothing: neither what came before nor what others do
 * should be counted for what comes next.
 * Gives up after twenty seconds, because some machines are never quiet.
 */
export async function untilQuiet(): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let calm = 0; calm < 3 && Date.now() < deadline; ) {
    const before = machineTicks();
    await delay(LOOK_MS);
    const after = machineTicks();
    const share = (after.busy - before.busy) / Math.max(1, after.all - before.all);
    calm = share <= QUIET_SHARE ? calm + 1 : 0;
  }
}

function machineTicks(): { busy: number; all: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  const all = ticks.reduce((sum, one) => sum + one, 0);
  const [, , , idle = 0, waiting = 0] = ticks;
  return { busy: all - idle - waiting, all };
}
