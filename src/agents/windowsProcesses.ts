// The processes of Windows, which Node can neither list nor end with all that they have started:
// through programs of the system, each by its absolute path.
import { execFile } from 'node:child_process';
import { win32 } from 'node:path';

/** How long Windows may take to end a tree, and to list all processes, in milliseconds. */
const END_MS = 5000;
const LIST_MS = 15_000;
const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** How far the start of a process may lie before the time that was read before it: a tick of the clock. */
export const TICK_MS = 16;
/**
 * A line for each process: its number, that of its parent, and when it was started. Without methods
 * of .NET, which policies forbid.
 */
const LIST_COMMAND =
  "Get-CimInstance Win32_Process -Property ProcessId,ParentProcessId,CreationDate | Where-Object CreationDate | ForEach-Object { '{0} {1} {2:o}' -f $_.ProcessId, $_.ParentProcessId, $_.CreationDate }";

/** What lists the processes, below `System32`. */
export const LIST_PROGRAM = 'WindowsPowerShell\\v1.0\\powershell.exe';
export const LIST_ARGS = ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', LIST_COMMAND];

/**
 * A process, told apart from a later one with the same number by when it was started: between two
 * times, in milliseconds since 1970.
 */
export interface ProcessBirth {
  readonly pid: number;
  readonly after: number;
  /** It was there at this time. */
  readonly before: number;
}

/** How long a process may have run before it noticed, in milliseconds: its files are checked first. */
const LOADING_MS = 10_000;

/** Returns when this process was started. */
export function ownBirth(): ProcessBirth {
  const before = Date.now();
  return { pid: process.pid, after: before - process.uptime() * 1000 - LOADING_MS, before };
}

/** A process as Windows lists it. */
export interface WindowsProcess {
  readonly pid: number;
  /** The number of the process that has started it, which may be gone. */
  readonly parent: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** The list that is read, and the one that begins when it is there. */
let current: Promise<unknown> = Promise.resolve();
let next: Promise<readonly WindowsProcess[]> | undefined;

/**
 * Lists the processes of this machine, which takes about half a second. Whoever asks while a list is
 * read shares the next one, so one PowerShell runs at a time: a window that closes asks for each agent.
 * @returns none where Windows does not tell
 */
export function listWindowsProcesses(): Promise<readonly WindowsProcess[]> {
  next ??= current.then(() => {
    next = undefined;
    const rows = readProcesses();
    current = rows;
    return rows;
  });
  return next;
}

async function readProcesses(): Promise<readonly WindowsProcess[]> {
  const { stdout } = await runSystemProgram(LIST_PROGRAM, LIST_ARGS, LIST_MS);
  return stdout.split(/\r?\n/).flatMap((line) => {
    const [, pid, parent, time = ''] = /^(\d+) (\d+) (\S+)$/.exec(line.trim()) ?? [];
    // Windows counts ten millionths of a second.
    const startedAt = Date.parse(time.replace(/(\.\d{3})\d+/, '$1'));
    return pid === undefined || Number.isNaN(startedAt)
      ? []
      : [{ pid: Number(pid), parent: Number(parent), startedAt }];
  });
}

/** Returns whether a listed process is the one that was born then. */
export function isBorn({ pid, startedAt }: WindowsProcess, { pid: own, after, before }: ProcessBirth): boolean {
  return pid === own && startedAt >= after - TICK_MS && startedAt <= before;
}

/**
 * Ends a process that runs, and what it has started. Resolves when that was tried. Where taskkill
 * may not run, at least the process itself ends.
 */
export async function endWindowsTree(pid: number): Promise<void> {
  const { code } = await runSystemProgram('taskkill.exe', ['/pid', String(pid), '/T', '/F'], END_MS);
  if (code === 0 || code === NOT_FOUND) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has gone meanwhile.
  }
}

/** What taskkill answers where there is no such process. */
const NOT_FOUND = 128;

/**
 * Ends what a process has started that has ended: its children name it as their parent still.
 * @param endedAt milliseconds since 1970; a child of a later process with that number is younger
 */
export async function endChildrenOf({ pid, after }: ProcessBirth, endedAt: number): Promise<void> {
  const left = (await listWindowsProcesses()).filter(
    ({ parent, startedAt }) => parent === pid && startedAt >= after - TICK_MS && startedAt <= endedAt,
  );
  await Promise.all(left.map((child) => endWindowsTree(child.pid)));
}

/** Ends those processes that still run, with what they have started. */
export async function endBorn(births: readonly ProcessBirth[]): Promise<void> {
  if (births.length === 0) return;
  const rows = await listWindowsProcesses();
  const alive = births.filter((birth) => rows.some((row) => isBorn(row, birth)));
  await Promise.all(alive.map(({ pid }) => endWindowsTree(pid)));
}

/**
 * Runs a program of Windows, by its absolute path: PATH, and the folder that this process runs in,
 * may hold another one of that name.
 * @param path below `System32` @param timeout after which it is ended, in milliseconds
 * @returns its exit code, or why it has none; never rejects
 */
export function runSystemProgram(
  path: string,
  args: readonly string[],
  timeout: number,
): Promise<{ readonly code: unknown; readonly stdout: string }> {
  const root = process.env.SystemRoot ?? '';
  const program = win32.join(win32.isAbsolute(root) ? root : 'C:\\Windows', 'System32', path);
  return new Promise((resolve) => {
    const options = { windowsHide: true, timeout, maxBuffer: MAX_LIST_BYTES };
    execFile(program, args, options, (error, stdout) => resolve({ code: error ? error.code : 0, stdout }));
  });
}
