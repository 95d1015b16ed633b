// Whether a process that is not a child of ours still runs, also an agent in memory. On Linux its
// /proc entry is all there is to see of it.
import { readFile } from 'node:fs/promises';

export const memoryProcesses = new Map<number, { kill(signal: NodeJS.Signals): void }>();

/** Sends a signal. @throws ESRCH if there is no such process */
export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  const inMemory = memoryProcesses.get(pid);
  if (inMemory) inMemory.kill(signal);
  else process.kill(pid, signal);
}

export function isAlive(pid: number): boolean {
  if (memoryProcesses.has(pid)) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A process that has ended but was not yet collected by its new parent counts as gone. */
export async function isGone(pid: number): Promise<boolean> {
  if (!isAlive(pid)) return true;
  if (process.platform !== 'linux' || memoryProcesses.has(pid)) return false;
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => ') Z');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

export async function goneFrom(pid: number): Promise<void> {
  while (!(await isGone(pid))) await new Promise((resolve) => setTimeout(resolve, 5));
}

export async function pssOf(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1');
  return Number(/^Pss:\s*(\d+)/m.exec(rollup)?.[1]) / 1024;
}
