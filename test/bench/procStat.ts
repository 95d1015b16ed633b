// What Linux knows of a process: the processor time that it used, its largest memory.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds of one tick of /proc: every Linux of today counts in hundredths of a second. */
const TICK_MS = 10;
const LOOK_MS = 200;
/** Below this share of one processor a process counts as quiet. */
const QUIET_SHARE = 0.1;

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

/** Waits until processes do nearly nothing any more: what they began before must not be counted for what comes next. Gives up after ten seconds. */
export async function untilQuiet(pids: readonly number[]): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (let calm = 0; calm < 3 && Date.now() < deadline; ) {
    const before = pids.map(cpuMs);
    await delay(LOOK_MS);
    const used = Math.max(...pids.map((pid, index) => cpuMs(pid) - (before[index] ?? 0)));
    calm = used <= QUIET_SHARE * LOOK_MS ? calm + 1 : 0;
  }
}
