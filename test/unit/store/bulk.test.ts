// Many sessions that stream in parallel: bytes written, and what a killed process leaves.
import { strict as assert } from 'node:assert';
import fs, { statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Disposable, toDisposable } from '../../../src/base/disposable';
import { thisMachine } from '../../../src/store/file/machine';
import type { Journal } from '../../../src/store/journal';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { newSession, openJournal, said, textIn, timed } from '../../support/store/journals';

/** Timers on a fake clock. */
class Clock {
  #now = 0;
  readonly #timers = new Map<() => void, number>();

  readonly schedule = (run: () => void, ms: number): Disposable => {
    const timer = (): void => run();
    this.#timers.set(timer, this.#now + ms);
    return toDisposable(() => this.#timers.delete(timer));
  };

  /** Runs the timers that are due by then. @param most timers */
  advance(ms: number, most = Number.POSITIVE_INFINITY): void {
    const end = this.#now + ms;
    for (let count = 0; count < most; count++) {
      const [next] = [...this.#timers].sort(([, a], [, b]) => a - b);
      if (!next || next[1] > end) break;
      this.#now = Math.max(this.#now, next[1]);
      this.#timers.delete(next[0]);
      next[0]();
    }
    this.#now = end;
  }
}

/** Counts what is appended to the stream files. */
function countAppended(): { bytes(): number; restore(): void } {
  const { writeSync } = fs;
  let bytes = 0;
  const set = (write: typeof writeSync): void => {
    fs.writeSync = write;
    syncBuiltinESMExports();
  };
  set(((file: number, text: string) => {
    bytes += text.length;
    return writeSync(file, text);
  }) as typeof writeSync);
  return { bytes: () => bytes, restore: () => set(writeSync) };
}

describe('sessions that stream in parallel', () => {
  const keys = Array.from({ length: 50 }, (_, index) => `s${index}`);
  let folder: string;
  let clock: Clock;
  let journal: Journal;

  beforeEach(async () => {
    folder = await scratchFolder();
    clock = new Clock();
    journal = openJournal(folder, { schedule: clock.schedule });
    for (const key of keys) journal.saveSession(newSession(key));
  });

  afterEach(async () => {
    journal.dispose();
    await removeScratch();
  });

  function stream(updates: number, textOf: (key: string, update: number) => string): number {
    let chars = 0;
    for (let update = 0; update < updates; update++) {
      for (const key of keys) {
        const text = textOf(key, update);
        chars += text.length;
        journal.append(key, timed(update, said(text)));
      }
      clock.advance(10);
    }
    return chars;
  }

  it('write less than three times their text to the disk', () => {
    const pages = (): number => statSync(join(folder, 'parley.db-wal')).size;
    const before = pages();
    const { bytes, restore } = countAppended();
    try {
      const chars = stream(1000, (key, update) => `word${update} lorem ips${key} `);
      const written = bytes() + pages() - before;
      assert.ok(written < 3 * chars, `${written} bytes for ${chars}`);
    } finally {
      restore();
    }
  });

  it('are stored completely and once after a process is killed during a write', () => {
    const expected = new Map<string, string>();
    const note = (key: string, update: number): string => {
      const text = `${key} says ${update} ${'x'.repeat(90)} `;
      expected.set(key, (expected.get(key) ?? '') + text);
      return text;
    };
    stream(250, note);
    const raw = new DatabaseSync(join(folder, 'parley.db'));
    const stored = (): number => Number(raw.prepare('SELECT count(*) AS n FROM sessions WHERE written > 0').get()?.n);
    for (let timers = 0; stored() === 0 && timers < 1000; timers++) clock.advance(30_000, 1);
    for (const key of keys) journal.append(key, timed(1000, said(note(key, 1000))));
    journal.append('s0', timed(1001, { type: 'turn_started', turnId: 't', origin: 'user', at: 1001 }));
    assert.ok(stored() > 0 && stored() < keys.length, `${stored()} sessions are written`);
    raw.close();
    const isAlive = (pid: number): boolean => pid !== process.pid;
    const other = openJournal(folder, { machine: { ...thisMachine, pid: process.pid + 1, isAlive } });
    for (const key of keys) {
      const { length } = textIn(other.events(key).events);
      assert.equal(length, expected.get(key)?.length, key);
    }
    other.dispose();
  });
});
