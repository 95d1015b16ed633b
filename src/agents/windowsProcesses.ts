// Lists Windows processes and ends process trees, which Node cannot do: runs system programs by
// absolute path.
import { execFile } from 'node:child_process';
import { win32 } from 'node:path';

const END_MS = 5000;
const LIST_MS = 15_000;
const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** Clock tick in ms: a start may appear this much earlier than a time read before it. */
export const TICK_MS = 16;
/** Prints id, parent and start time. Uses no .NET methods, which policies may forbid. */
const LIST_COMMAND =
  "Get-CimInstance Win32_Process -Property ProcessId,ParentProcessId,CreationDate | Where-Object CreationDate | ForEach-Object { '{0} {1} {2:o}' -f $_.ProcessId, $_.ParentProcessId, $_.CreationDate }";

export const LIST_PROGRAM = 'WindowsPowerShell\\v1.0\\powershell.exe';
export const SHELL_ARGS = ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command'];
const LIST_ARGS = [...SHELL_ARGS, LIST_COMMAND];

/** A range (ms since 1970) that distinguishes a process from a later one with the same id. */
export interface ProcessBirth {
  readonly pid: number;
  readonly after: number;
  readonly before: number;
}

/** Maximum time until a new process runs code, in ms: its files are scanned first. */
const LOADING_MS = 10_000;

export function ownBirth(): ProcessBirth {
  const before = Date.now();
  return { pid: process.pid, after: before - process.uptime() * 1000 - LOADING_MS, before };
}

export interface WindowsProcess {
  readonly pid: number;
  readonly parent: number;
  readonly startedAt: number;
}

let current: Promise<unknown> = Promise.resolve();
let next: Promise<readonly WindowsProcess[]> | undefined;

/**
 * Lists processes, in about half a second. Calls during a run share the next one, as a closing
 * window asks for each agent. Empty if Windows doesn't tell.
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
    // Windows reports units of 100 ns.
    const startedAt = Date.parse(time.replace(/(\.\d{3})\d+/, '$1'));
    return pid === undefined || Number.isNaN(startedAt)
      ? []
      : [{ pid: Number(pid), parent: Number(parent), startedAt }];
  });
}

export function isBorn({ pid, startedAt }: WindowsProcess, { pid: own, after, before }: ProcessBirth): boolean {
  return pid === own && startedAt >= after - TICK_MS && startedAt <= before;
}

/** Ends a process tree, or only the process if taskkill may not run. */
export async function endWindowsTree(pid: number): Promise<void> {
  const { code } = await runSystemProgram('taskkill.exe', ['/pid', String(pid), '/T', '/F'], END_MS);
  if (code === 0 || code === NOT_FOUND) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}

const NOT_FOUND = 128;

/**
 * Ends the children of a dead process, which still name it as their parent.
 * @param endedAt ms since 1970; children of a later process with the same id are younger
 */
export async function endChildrenOf({ pid, after }: ProcessBirth, endedAt: number): Promise<void> {
  const left = (await listWindowsProcesses()).filter(
    ({ parent, startedAt }) => parent === pid && startedAt >= after - TICK_MS && startedAt <= endedAt,
  );
  await Promise.all(left.map((child) => endWindowsTree(child.pid)));
}

export async function endBorn(births: readonly ProcessBirth[]): Promise<void> {
  if (births.length === 0) return;
  const rows = await listWindowsProcesses();
  const alive = births.filter((birth) => rows.some((row) => isBorn(row, birth)));
  await Promise.all(alive.map(({ pid }) => endWindowsTree(pid)));
}

/** PATH and the current folder may have another program of that name. */
export function systemProgram(path: string): string {
  const root = process.env.SystemRoot ?? '';
  return win32.join(win32.isAbsolute(root) ? root : 'C:\\Windows', 'System32', path);
}

export function runSystemProgram(
  path: string,
  args: readonly string[],
  timeout: number,
): Promise<{ readonly code: unknown; readonly stdout: string }> {
  return new Promise((resolve) => {
    const options = { windowsHide: true, timeout, maxBuffer: MAX_LIST_BYTES };
    execFile(systemProgram(path), args, options, (error, stdout) => resolve({ code: error ? error.code : 0, stdout }));
  });
}

/**
 * `+ 42 1000 1020` and `- 42` on stdin maintain the list of processes with their start times. When
 * stdin closes, they get a second to exit on their own (their stdin has closed too). Then those
 * still running are ended with their trees; of the others, the children started by then.
 */
export const WINDOWS_GUARD = `
const { spawnSync } = require('child_process');
const { win32 } = require('path');
const system = (path) => win32.join(process.env.SystemRoot || 'C:\\\\Windows', 'System32', path);
const live = new Map();
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const [op, pid, after, before] = line.split(' ');
  if (op === '+') live.set(+pid, { after: after - ${TICK_MS}, before: +before }); else live.delete(+pid);
}).on('close', () => {
  const ended = Date.now();
  if (live.size > 0) setTimeout(() => end(ended), 1000);
});
function end(ended) {
  const isBetween = (time, birth, end) => birth !== undefined && time >= birth.after && time <= end;
  const { stdout } = spawnSync(system(${JSON.stringify(LIST_PROGRAM)}), ${JSON.stringify(LIST_ARGS)}, { windowsHide: true, encoding: 'utf8' });
  for (const line of (stdout || '').split('\\n')) {
    const [pid, parent, time = ''] = line.trim().split(' ');
    const started = Date.parse(time.replace(/([.]\\d{3})\\d+/, '$1'));
    const own = live.get(+pid);
    if (isBetween(started, own, own?.before) || isBetween(started, live.get(+parent), ended))
      spawnSync(system('taskkill.exe'), ['/pid', pid, '/T', '/F'], { windowsHide: true });
  }
}
`;
