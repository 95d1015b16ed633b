// Ends a process with all its descendants. A process group covers those that stayed in it; tools
// that agents run often start a new session, so descendants are looked up as well.
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';

/** `started` distinguishes it from a later process with the same id. */
export interface ProcessRef {
  readonly pid: number;
  readonly started: string;
}

interface ProcessRow extends ProcessRef {
  readonly parent: number;
  readonly group: number;
  readonly isZombie: boolean;
}

/** Signals a process group. Signal 0 only checks. @returns false if the group is empty */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  return send(-leader, signal);
}

/** Ignores zombies, unlike signals. */
export async function isGroupAlive(leader: number): Promise<boolean> {
  if (!signalGroup(leader, 0)) return false;
  const rows = await listProcesses();
  return rows.length === 0 || rows.some((row) => row.group === leader && !row.isZombie);
}

export async function signalProcesses(refs: readonly ProcessRef[], signal: NodeJS.Signals): Promise<void> {
  for (const ref of await stillAlive(refs)) send(ref.pid, signal);
}

export async function stillAlive(refs: readonly ProcessRef[]): Promise<readonly ProcessRef[]> {
  if (refs.length === 0) return [];
  const now = new Map((await listProcesses()).map((row) => [row.pid, row]));
  return refs.filter(({ pid, started }) => {
    const row = now.get(pid);
    return row !== undefined && !row.isZombie && row.started === started;
  });
}

/** Empty on Windows, where `taskkill` finds descendants itself. */
export async function descendantsOf(pid: number): Promise<readonly ProcessRef[]> {
  if (process.platform === 'win32') return [];
  const children = new Map<number, ProcessRow[]>();
  for (const row of await listProcesses()) {
    const siblings = children.get(row.parent);
    if (siblings) siblings.push(row);
    else children.set(row.parent, [row]);
  }
  const found: ProcessRow[] = [...(children.get(pid) ?? [])];
  for (const row of found) found.push(...(children.get(row.pid) ?? []));
  return found.filter((row) => !row.isZombie).map(({ pid, started }) => ({ pid, started }));
}

/** Also finds processes whose parent has ended. Empty on Windows. */
export async function processesWith(variable: string, value: string): Promise<readonly ProcessRef[]> {
  if (process.platform === 'win32') return [];
  const rows = await listProcesses();
  const marked =
    process.platform === 'linux' ? await markedInProc(rows, variable, value) : await markedInPs(variable, value);
  return rows.filter((row) => marked.has(row.pid) && !row.isZombie).map(({ pid, started }) => ({ pid, started }));
}

async function markedInProc(
  rows: readonly ProcessRow[],
  variable: string,
  value: string,
): Promise<ReadonlySet<number>> {
  const marked = new Set<number>();
  for (const { pid } of rows) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').includes(`${variable}=${value}`)) marked.add(pid);
  }
  return marked;
}

function markedInPs(variable: string, value: string): Promise<ReadonlySet<number>> {
  return new Promise((resolve) => {
    const options = { maxBuffer: 64 * 1024 * 1024 };
    execFile('ps', ['-A', '-E', '-ww', '-o', 'pid=', '-o', 'command='], options, (error, stdout) => {
      const lines = error ? [] : stdout.split('\n').filter((line) => ` ${line} `.includes(` ${variable}=${value} `));
      resolve(new Set(lines.map((line) => Number.parseInt(line, 10))));
    });
  });
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    // EPERM: it exists, but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function listProcesses(): Promise<readonly ProcessRow[]> {
  try {
    return process.platform === 'linux' ? await listProc() : await listPs();
  } catch {
    return [];
  }
}

async function listProc(): Promise<readonly ProcessRow[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const rows: ProcessRow[] = [];
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
    // The name in parentheses may contain anything, so fields are counted from its end.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields)
      rows.push({
        pid: Number(pid),
        parent: Number(fields[1]),
        group: Number(fields[2]),
        started: fields[19] ?? '',
        isZombie: fields[0] === 'Z',
      });
  }
  return rows;
}

function listPs(): Promise<readonly ProcessRow[]> {
  return new Promise((resolve, reject) => {
    const columns = ['-A', '-o', 'pid=', '-o', 'ppid=', '-o', 'pgid=', '-o', 'stat=', '-o', 'lstart='];
    execFile('ps', columns, { maxBuffer: 8 * 1024 * 1024, env: { ...process.env, LC_ALL: 'C' } }, (error, stdout) => {
      if (error) return reject(error);
      const rows = stdout.split('\n').flatMap((line) => {
        const fields = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+)$/.exec(line);
        if (!fields) return [];
        return [
          {
            pid: Number(fields[1]),
            parent: Number(fields[2]),
            group: Number(fields[3]),
            started: fields[5] ?? '',
            isZombie: fields[4]?.startsWith('Z') === true,
          },
        ];
      });
      resolve(rows);
    });
  });
}
