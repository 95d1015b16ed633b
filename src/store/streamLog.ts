// Append-only files for streamed events until the next bulk write: writing a SQLite page for every
// few words would multiply the bytes written by hundreds. Each journal has two files: one is
// appended to while the rows of the other are written. The files of a killed process are imported
// by another one.

import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { parsedJson } from '../base/untrusted';
import { join as joinRows, type PendingRow } from './events/eventBuffer';
import { readMark } from './events/eventPages';
import { decode } from './events/rowCodec';
import type { Machine } from './file/machine';
import { isSideTable, type Notes, type SideTable } from './sessions/sideNotes';

const NAME = /^parley-(\d+)-(\w*)-[\da-f-]+\.stream$/;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_LINE_CHARS = 4 * 1024 * 1024;

export interface StreamedSession {
  readonly key: string;
  readonly written: number;
  readonly rows: readonly PendingRow[];
  readonly notes: Notes;
}

interface Begun {
  readonly number: number;
  last: PendingRow | undefined;
  progress: string | undefined;
}

class StreamFile {
  readonly name: string;
  readonly begun = new Map<string, Begun>();
  count = 0;
  bytes = 0;
  readonly #path: string;
  #file: number | undefined;

  constructor(folder: string, name: string) {
    this.name = name;
    this.#path = join(folder, name);
  }

  write(lines: readonly unknown[][]): void {
    this.#file ??= openSync(this.#path, 'a', 0o600);
    const text = Buffer.from(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
    // A full disk may accept only a part.
    for (let written = 0; written < text.length; ) {
      const count = writeSync(this.#file, text, written);
      this.bytes += count;
      written += count;
    }
  }

  sync(): void {
    if (this.#file !== undefined) fdatasyncSync(this.#file);
  }

  clear(): void {
    this.begun.clear();
    this.count = 0;
    if (this.#file === undefined || this.bytes === 0) return;
    ftruncateSync(this.#file, 0);
    this.bytes = 0;
  }

  dispose(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    if (this.bytes === 0) rmSync(this.#path, { force: true });
  }
}

export class StreamLog {
  readonly #folder: string;
  #current: StreamFile;
  /** Earlier rows, which are being written to the journal. */
  #previous: StreamFile;

  constructor(folder: string, machine: Machine) {
    this.#folder = folder;
    const prefix = `parley-${machine.pid}-${machine.startOf(machine.pid) ?? ''}`;
    this.#current = new StreamFile(folder, `${prefix}-${randomUUID()}.stream`);
    this.#previous = new StreamFile(folder, `${prefix}-${randomUUID()}.stream`);
  }

  /**
   * Appends rows, which survive the process. Extending the last row by text costs little.
   * @param writtenTo returns the number of writes to a session; older stream files are outdated
   * @throws the system's error
   */
  append(
    batch: ReadonlyMap<string, readonly PendingRow[]>,
    writtenTo: (key: string) => number,
    progress: ReadonlyMap<string, string> = new Map(),
  ): void {
    const linesOf = new Map<StreamFile, unknown[][]>();
    for (const [key, rows] of batch) {
      const file = this.#fileOf(key);
      const lines = linesOf.get(file) ?? [];
      linesOf.set(file, lines);
      const begun = begin(file, key, writtenTo, lines);
      for (const row of rows) {
        const { at, until, event, mark } = row;
        const isMore = event.type === 'message_chunk' && begun.last && joinRows(begun.last, row, MAX_LINE_CHARS);
        if (isMore && event.block.type === 'text') lines.push([begun.number, until ?? at, event.block.text]);
        else lines.push([begun.number, at, until ?? null, event, ...(mark ? [mark] : [])]);
        // Only text can be extended.
        begun.last = event.type === 'message_chunk' ? { at, event: shortened(event) } : undefined;
      }
      begun.progress = progress.get(key) ?? begun.progress;
      if (begun.progress !== undefined) lines.push([begun.number, 'progress', begun.progress]);
    }
    for (const [file, lines] of linesOf) file.write(lines);
  }

  /**
   * Appends a replacing value, which survives the process.
   * @throws as {@link append}
   */
  note(key: string, table: SideTable, json: string, writtenTo: (key: string) => number): void {
    const file = this.#fileOf(key);
    const lines: unknown[][] = [];
    const { number } = begin(file, key, writtenTo, lines);
    lines.push([number, table, json]);
    file.write(lines);
  }

  /** All unwritten rows of a session are in one of the files. */
  #fileOf(key: string): StreamFile {
    return this.#previous.begun.has(key) ? this.#previous : this.#current;
  }

  /** Syncs appended rows to the disk, so that they survive a power failure. */
  sync(): void {
    if (this.#previous.bytes > 0) this.#previous.sync();
    this.#current.sync();
  }

  get size(): number {
    return this.#current.bytes;
  }

  /** Call when the rows of a session are in the journal. */
  forget(key: string): void {
    for (const { begun } of [this.#previous, this.#current]) begun.delete(key);
  }

  /** Continues in the other file, except for sessions that still have rows in this one. */
  rotate(): void {
    if (this.#previous.bytes === 0) [this.#current, this.#previous] = [this.#previous, this.#current];
  }

  clearPrevious(): void {
    this.#previous.clear();
  }

  clear(): void {
    this.#previous.clear();
    this.#current.clear();
  }

  dispose(): void {
    this.#previous.dispose();
    this.#current.dispose();
  }

  others(): readonly { readonly path: string; readonly pid: number; readonly started: string }[] {
    const own = [this.#current.name, this.#previous.name];
    return namesIn(this.#folder).flatMap((name) => {
      const [, pid, started = ''] = NAME.exec(name) ?? [];
      if (pid === undefined || own.includes(name)) return [];
      return [{ path: join(this.#folder, name), pid: Number(pid), started }];
    });
  }
}

function begin(file: StreamFile, key: string, writtenTo: (key: string) => number, lines: unknown[][]): Begun {
  const known = file.begun.get(key);
  if (known) return known;
  const begun: Begun = { number: file.count++, last: undefined, progress: undefined };
  file.begun.set(key, begun);
  lines.push([begun.number, key, writtenTo(key)]);
  return begun;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function shortened(event: PendingRow['event']): PendingRow['event'] {
  return event.type === 'message_chunk' && event.block.type === 'text' && event.block.text !== ''
    ? { ...event, block: { ...event.block, text: 'x' } }
    : event;
}

/**
 * Leaves out a last line that was cut off.
 * @throws the system's error
 */
export function readStream(path: string): readonly StreamedSession[] {
  if (statSync(path).size > MAX_BYTES) return [];
  const sessions: (StreamedSession & { rows: PendingRow[]; notes: Map<SideTable, string>; whole?: number })[] = [];
  for (const line of readFileSync(path, 'utf8').split('\n').slice(0, -1)) {
    const fields = fieldsOf(line);
    const [number, second, third, value, mark] = fields;
    if (typeof number !== 'number') break;
    const session = sessions[number];
    if (!session) {
      if (number !== sessions.length || typeof second !== 'string' || typeof third !== 'number') break;
      sessions.push({ key: second, written: third, rows: [], notes: new Map() });
      continue;
    }
    if (isSideTable(second) && typeof third === 'string') {
      session.notes.set(second, third);
      if (second === 'progress') session.whole = session.rows.length;
      continue;
    }
    if (typeof second !== 'number') break;
    const row =
      typeof third === 'string' ? more(session.rows.at(-1), second, third) : whole(second, third, value, mark);
    if (!row) break;
    session.rows.push(row);
  }
  // Progress ends each append: rows after the last one were cut off in the middle of a write, and
  // their lines are read again.
  for (const { rows, whole } of sessions) rows.length = whole ?? rows.length;
  return sessions;
}

function fieldsOf(line: string): readonly unknown[] {
  const value = parsedJson(line);
  return Array.isArray(value) ? value : [];
}

function more(before: PendingRow | undefined, at: number, text: string): PendingRow | undefined {
  const event = before?.event;
  return event?.type === 'message_chunk' ? { at, event: { ...event, block: { type: 'text', text } } } : undefined;
}

function whole(at: number, until: unknown, value: unknown, mark: unknown): PendingRow | undefined {
  const event = decode(JSON.stringify(value));
  if (!event) return undefined;
  const place = readMark(JSON.stringify(mark));
  return { at, event, until: typeof until === 'number' ? until : undefined, mark: place };
}
