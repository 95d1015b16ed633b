// An append-only file for streamed events until the next bulk write, as writing a SQLite page for
// every few words would multiply the bytes written by hundreds. Each journal has its own file; the
// file of a killed process is imported by another one.

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

export class StreamLog {
  readonly #folder: string;
  readonly #name: string;
  #file: number | undefined;
  #begun = new Map<string, Begun>();
  #bytes = 0;

  constructor(folder: string, machine: Machine) {
    this.#folder = folder;
    this.#name = `parley-${machine.pid}-${machine.startOf(machine.pid) ?? ''}-${randomUUID()}.stream`;
  }

  /**
   * Appends rows, which survive the process. Text that extends the last row costs little.
   * @param writtenTo counts rows written to a session
   * @throws the system's error
   */
  append(
    batch: ReadonlyMap<string, readonly PendingRow[]>,
    writtenTo: (key: string) => number,
    progress: ReadonlyMap<string, string> = new Map(),
  ): void {
    const lines: unknown[][] = [];
    for (const [key, rows] of batch) {
      const begun = this.#begin(key, writtenTo, lines);
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
    this.#write(lines);
  }

  /**
   * Appends a replacing value, which survives the process.
   * @throws as {@link append}
   */
  note(key: string, table: SideTable, json: string, writtenTo: (key: string) => number): void {
    const lines: unknown[][] = [];
    const { number } = this.#begin(key, writtenTo, lines);
    lines.push([number, table, json]);
    this.#write(lines);
  }

  #begin(key: string, writtenTo: (key: string) => number, lines: unknown[][]): Begun {
    const known = this.#begun.get(key);
    if (known) return known;
    const begun: Begun = { number: this.#begun.size, last: undefined, progress: undefined };
    this.#begun.set(key, begun);
    lines.push([begun.number, key, writtenTo(key)]);
    return begun;
  }

  #write(lines: readonly unknown[][]): void {
    this.#file ??= openSync(join(this.#folder, this.#name), 'a', 0o600);
    const text = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
    writeSync(this.#file, text);
    this.#bytes += text.length;
  }

  /** Has the system write to the disk what was appended: it survives a power failure then. */
  sync(): void {
    if (this.#file !== undefined) fdatasyncSync(this.#file);
  }

  get size(): number {
    return this.#bytes;
  }

  /** @throws the system's error */
  clear(): void {
    this.#begun = new Map();
    if (this.#file === undefined || this.#bytes === 0) return;
    ftruncateSync(this.#file, 0);
    this.#bytes = 0;
  }

  dispose(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    if (this.#bytes === 0) rmSync(join(this.#folder, this.#name), { force: true });
  }

  others(): readonly { readonly path: string; readonly pid: number; readonly started: string }[] {
    return namesIn(this.#folder).flatMap((name) => {
      const [, pid, started = ''] = NAME.exec(name) ?? [];
      if (pid === undefined || name === this.#name) return [];
      return [{ path: join(this.#folder, name), pid: Number(pid), started }];
    });
  }
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
 * Without a last line that was cut off.
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
  // Progress ends each append: rows behind the last one were cut off in the middle of a write, and
  // their lines are read again.
  for (const { rows, whole } of sessions) rows.length = whole ?? rows.length;
  return sessions;
}

function fieldsOf(line: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(line);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
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
