// Which window owns a live session. One owner at a time; the others look on and may take over when the owner is gone.
import { hostname } from 'node:os';
import { numberOf, type Row, type Sql, textOf } from './sql';

/** An owner on another machine, or whose process number may have been given to another program, is taken for gone after this silence, in milliseconds. */
const STALE_MS = 60_000;
/** An owner whose process still runs is given longer: the machine may have slept, or the clock may have moved. */
const STALE_ALIVE_MS = 10 * 60_000;

export type Claim =
  | {
      readonly kind: 'owned';
      /** The window that owned it and is gone. */
      readonly tookOverFrom?: string;
    }
  | { readonly kind: 'heldBy'; readonly windowId: string; readonly pid: number; readonly since: number };

export interface LeaseContext {
  readonly now: number;
  /** Whether a process of this machine runs. */
  readonly isAlive: (pid: number) => boolean;
}

/** Makes a window the owner of a session, unless another one is and lives. */
export function claim(sql: Sql, key: string, windowId: string, context: LeaseContext): Claim {
  const row = sql.get('SELECT * FROM leases WHERE key = ?', key);
  const holder = textOf(row?.window);
  if (row && holder !== windowId && !isStale(row, context)) return heldBy(row);
  const { now } = context;
  const since = holder === windowId ? (numberOf(row?.since) ?? now) : now;
  const lease = { key, window: windowId, pid: process.pid, host: hostname(), since, heartbeat: now };
  sql.insert('leases', lease, 'INSERT OR REPLACE');
  return holder !== undefined && holder !== windowId ? { kind: 'owned', tookOverFrom: holder } : { kind: 'owned' };
}

/** Who owns a session and lives; undefined where nobody does. */
export function ownerOf(sql: Sql, key: string, context: LeaseContext): Extract<Claim, { kind: 'heldBy' }> | undefined {
  const row = sql.get('SELECT * FROM leases WHERE key = ?', key);
  return row && !isStale(row, context) ? heldBy(row) : undefined;
}

/** Tells that the owner lives. False where it owns the session no more. */
export function beat(sql: Sql, key: string, windowId: string, now: number): boolean {
  return sql.run('UPDATE leases SET heartbeat = ? WHERE key = ? AND window = ?', now, key, windowId) > 0;
}

export function release(sql: Sql, key: string, windowId: string): void {
  sql.run('DELETE FROM leases WHERE key = ? AND window = ?', key, windowId);
}

/** Whether a process of this machine runs; one that we may not signal does. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function isStale(row: Row, { now, isAlive }: LeaseContext): boolean {
  const pid = numberOf(row.pid) ?? 0;
  const here = row.host === hostname();
  if (here && (pid <= 0 || !isAlive(pid))) return true;
  // A heartbeat in the future is as old as one in the past: the clock was set back.
  const silence = Math.abs(now - (numberOf(row.heartbeat) ?? 0));
  return silence > (here ? STALE_ALIVE_MS : STALE_MS);
}

function heldBy(row: Row): Extract<Claim, { kind: 'heldBy' }> {
  return {
    kind: 'heldBy',
    windowId: textOf(row.window) ?? '',
    pid: numberOf(row.pid) ?? 0,
    since: numberOf(row.since) ?? 0,
  };
}
