// Leases: which window owns a live session. Other windows only read, and can take over when the
// owner has ended.
import type { Machine } from '../file/machine';
import { numberOf, type Row, type Sql, textOf } from '../file/sql';

/** Silence after which an owner on another machine is considered dead, in ms. */
const STALE_MS = 60_000;
/** Two heartbeats, for an owner before the last boot or on another machine of that name. */
const STALE_OTHER_BOOT_MS = 30_000;
/** The same if its process id is in use, perhaps by another process. */
const STALE_ALIVE_MS = 10 * 60_000;

const SHARED_RENEWAL_MS = 15_000;
const LOCAL_RENEWAL_MS = 4 * 60_000;

export type Claim =
  | {
      readonly kind: 'owned';
      readonly tookOverFrom?: string;
    }
  | { readonly kind: 'heldBy'; readonly windowId: string; readonly pid: number; readonly since: number };

export interface LeaseContext {
  readonly now: number;
  readonly machine: Machine;
  readonly owns: (key: string, windowId: string) => boolean;
}

/**
 * Returns the renewal interval in ms; undefined if other windows can see that the process runs.
 * @param isShared other machines may use the file
 */
export function renewalMs(machine: Machine, isShared: boolean): number | undefined {
  if (isShared) return SHARED_RENEWAL_MS;
  return machine.startOf(machine.pid) === undefined ? LOCAL_RENEWAL_MS : undefined;
}

export function claim(sql: Sql, key: string, windowId: string, context: LeaseContext): Claim {
  const row = sql.get('SELECT * FROM leases WHERE key = ?', key);
  const holder = textOf(row?.window);
  if (row && holder !== windowId && !isStale(row, context)) return heldBy(row);
  const { now, machine } = context;
  const since = holder === windowId ? (numberOf(row?.since) ?? now) : now;
  const lease = {
    key,
    window: windowId,
    pid: machine.pid,
    host: machine.host,
    since,
    heartbeat: now,
    boot: machine.boot ?? null,
    started: machine.startOf(machine.pid) ?? null,
    ticks: machine.ticks(),
  };
  sql.insert('leases', lease, 'INSERT OR REPLACE');
  return holder !== undefined && holder !== windowId ? { kind: 'owned', tookOverFrom: holder } : { kind: 'owned' };
}

export function ownerOf(sql: Sql, key: string, context: LeaseContext): Extract<Claim, { kind: 'heldBy' }> | undefined {
  const row = sql.get('SELECT * FROM leases WHERE key = ?', key);
  return row && !isStale(row, context) ? heldBy(row) : undefined;
}

/** Returns false if the window no longer owns the session. */
export function renewLease(sql: Sql, key: string, windowId: string, { now, machine }: LeaseContext): boolean {
  const change = 'UPDATE leases SET heartbeat = ?, ticks = ? WHERE key = ? AND window = ?';
  return sql.run(change, now, machine.ticks(), key, windowId) > 0;
}

export function release(sql: Sql, key: string, windowId: string): void {
  sql.run('DELETE FROM leases WHERE key = ? AND window = ?', key, windowId);
}

export function abandoned(sql: Sql, context: LeaseContext): readonly string[] {
  return sql.all('SELECT * FROM leases').flatMap((row) => (isStale(row, context) ? [textOf(row.key) ?? ''] : []));
}

function isStale(row: Row, { now, machine, owns }: LeaseContext): boolean {
  const silence = Math.abs(now - (numberOf(row.heartbeat) ?? 0));
  if (row.host !== machine.host) return silence > STALE_MS;
  const boot = textOf(row.boot);
  if (boot !== undefined && machine.boot !== undefined && boot !== machine.boot) return silence > STALE_OTHER_BOOT_MS;
  const pid = numberOf(row.pid) ?? 0;
  // The same process id: one of our windows, or an earlier process.
  if (pid === machine.pid) return !owns(textOf(row.key) ?? '', textOf(row.window) ?? '');
  if (pid <= 0 || !machine.isAlive(pid)) return true;
  const started = textOf(row.started);
  if (started !== undefined) return started !== machine.startOf(pid);
  const ticks = numberOf(row.ticks);
  // Leases of earlier versions only have the clock, which may have been set.
  if (ticks === undefined) return silence > STALE_ALIVE_MS;
  const still = machine.ticks() - ticks;
  return still < 0 || still > STALE_ALIVE_MS;
}

function heldBy(row: Row): Extract<Claim, { kind: 'heldBy' }> {
  return {
    kind: 'heldBy',
    windowId: textOf(row.window) ?? '',
    pid: numberOf(row.pid) ?? 0,
    since: numberOf(row.since) ?? 0,
  };
}
