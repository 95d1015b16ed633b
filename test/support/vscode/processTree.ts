// What the harness starts it ends, with everything below it, by process id: never by a name.
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

export function processes(): readonly ProcessEntry[] {
  if (process.platform === 'linux') return linuxProcesses();
  if (process.platform === 'win32') return [];
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid=,command='], { encoding: 'utf8', maxBuffer: 1 << 26 })
    .split('\n')
    .flatMap((line) => {
      const match = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line);
      return match === null ? [] : [{ pid: Number(match[1]), parent: Number(match[2]), command: match[3] ?? '' }];
    });
}

function linuxProcesses(): readonly ProcessEntry[] {
  const found: ProcessEntry[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // The command name in brackets may hold spaces and brackets itself.
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z' || parent === undefined) continue;
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      found.push({ pid: Number(name), parent: Number(parent), command });
    } catch {
      // It ended between the listing and the reading.
    }
  }
  return found;
}

export function descendants(pid: number): readonly ProcessEntry[] {
  const children = new Map<number, ProcessEntry[]>();
  for (const entry of processes()) {
    const siblings = children.get(entry.parent);
    if (siblings === undefined) children.set(entry.parent, [entry]);
    else siblings.push(entry);
  }
  const found: ProcessEntry[] = [];
  const walk = (parent: number): void => {
    for (const entry of children.get(parent) ?? []) {
      found.push(entry);
      walk(entry.pid);
    }
  };
  walk(pid);
  return found;
}

/**
 * Returns the processes that run a command in a folder, on Linux.
 * @param part of their command lines
 */
export function commandsIn(folder: string, part: string): readonly number[] {
  const isThere = (pid: number): boolean => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false;
    }
  };
  return processes().flatMap(({ pid, command }) => (command.includes(part) && isThere(pid) ? [pid] : []));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.charAt(stat.lastIndexOf(')') + 2) !== 'Z';
  } catch {
    return false;
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/**
 * Asks a process to end and then makes sure of it and of everything below it.
 * @param grace milliseconds for an orderly end
 */
export async function endTree(pid: number, exited: Promise<unknown>, grace: number): Promise<readonly ProcessEntry[]> {
  if (process.platform === 'win32') {
    spawnSync('taskkill', ['/PID', String(pid), '/T', '/F']);
    await exited;
    return [];
  }
  // A child whose parent ends first moves to init, so the tree is read before any process is ended.
  const tree = descendants(pid);
  const alive = (): readonly ProcessEntry[] => {
    const now = new Map(processes().map((entry) => [entry.pid, entry.command]));
    return tree.filter((entry) => now.get(entry.pid) === entry.command);
  };
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has ended.
  }
  const deadline = Date.now() + grace;
  let rootEnded = false;
  void exited.then(() => (rootEnded = true));
  while (Date.now() < deadline && (!rootEnded || alive().length > 0)) await delay(50);
  const left = alive();
  for (const entry of [...left].reverse()) kill(entry.pid);
  kill(pid);
  await exited;
  return left;
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
