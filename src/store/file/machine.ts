// Identifies this machine and process, and whether another process is still the same one, as
// process ids are reused.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

export interface Machine {
  readonly host: string;
  /** Identifies the current boot; undefined if the system does not provide it. */
  readonly boot: string | undefined;
  readonly pid: number;
  /** Returns the ms of a monotonic clock shared by all processes of one boot. */
  ticks(): number;
  isAlive(pid: number): boolean;
  /** Returns a process's start time in the system's format; undefined if unknown. */
  startOf(pid: number): string | undefined;
}

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
      // EPERM: it is running, but belongs to another user.
      return error instanceof Error && 'code' in error && error.code === 'EPERM';
    }
  },
  startOf(pid) {
    const stat = read(`/proc/${pid}/stat`);
    // The name in parentheses may contain anything, so fields are counted from its end.
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
