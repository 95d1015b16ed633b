// Imports the stream files of dead processes into the journal. Each is imported once, whichever
// window does it.
import type { Log } from '../base/log';
import type { Backing } from './backing';
import { EventBuffer } from './events/eventBuffer';
import { appendRows } from './events/eventRows';
import { numberOf } from './file/sql';
import { type LeaseContext, ownerOf } from './sessions/leases';
import { writeNotes } from './sessions/sideStore';
import { readStream, removeStream, type StreamedSession, type StreamLog } from './streamLog';

export interface ImportOptions {
  readonly stream: StreamLog;
  readonly backing: Backing;
  readonly log: Log;
  readonly context: LeaseContext;
  readonly windowOf: (key: string) => string | undefined;
  readonly quietly: (run: () => void) => void;
}

export function importStreams(options: ImportOptions, only?: string): void {
  const { machine } = options.context;
  for (const { path, pid, started } of options.stream.others()) {
    options.quietly(() => {
      const isGone = !machine.isAlive(pid) || (machine.startOf(pid) ?? '') !== started;
      let isNeeded = !isGone;
      for (const session of readStream(path)) {
        const isTaken = (only === undefined ? isGone : only === session.key) && takeSession(options, session);
        isNeeded ||= !isTaken;
      }
      if (!isNeeded) removeStream(path);
    });
  }
}

function takeSession({ backing, log, context, windowOf }: ImportOptions, left: StreamedSession): boolean {
  if (backing.state.kind === 'memory') return false;
  const { key, written, rows, notes } = left;
  const buffer = new EventBuffer();
  buffer.add(key, rows);
  return backing.write(key, (sql) => {
    const owner = ownerOf(sql, key, context);
    if (owner && owner.windowId !== windowOf(key)) return false;
    const there = numberOf(sql.get('SELECT written FROM sessions WHERE key = ?', key)?.written);
    // The session was deleted, or a newer file has replaced this one.
    if (there === undefined || there > written) return true;
    log.info(`journal: ${rows.length} rows of ${key} were taken over from a process that is gone`);
    appendRows(sql, key, buffer.take().get(key) ?? []);
    writeNotes(sql, key, notes);
    sql.run('UPDATE sessions SET written = max(written, ?) WHERE key = ?', written + 1, key);
    return true;
  });
}
