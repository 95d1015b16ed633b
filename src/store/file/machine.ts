// Which machine and process this is, and whether another process still is the one that it was: numbers of processes are given again, after a restart from small ones on.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** What tells processes apart. */
export interface Machine {
  readonly host: string;
  /** Names the time from one start of the system to the next; undefined where the system has no such name. */
  readonly boot: string | undefined;
  readonly pid: number;
  /** Milliseconds on a clock that only goes on, the same in all processes of one boot. */
  ticks(): number;
  /** Whether a process of this machine runs. */
  isAlive(pid: number): boolean;
  /** When a process began, as the system words it; undefined where it cannot be asked. */
  startOf(pid: number): string | undefined;
}

/** This process on this machine. */
export const thisMachine: Machine = {
  host: hostname(),
  boot: read('/proc/sys/kernel/random/boot_id')?.trim(),
  pid: process.pid,
  ticks: () => Number(process.hrtime.bigint() / 1_000_000n),
  isAlive(pid) {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      // One that we may not signal runs.
      return error instanceof Error && 'code' in error && error.code === 'EPERM';
    }
  },
  startOf(pid) {
    const stat = read(`/proc/${pid}/stat`);
    // The name in parentheses may hold anything, so the fields are counted from its end.
    return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  },
};

function read(path: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
