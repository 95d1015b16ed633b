// Watches the agent while no window is attached: looks for end marks in its lines, counts requests
// that wait for a window, and decides when the agent exits.
import type { Disposable } from '../base/disposable';
import { parsedJson } from '../base/untrusted';
import type { Spool } from './spool';
import type { EndMark, Lease } from './wire';

const NEWLINE = 0x0a;
/** Longer lines are not parsed; bytes. */
const MAX_LINE_BYTES = 1024 * 1024;

export interface WatchOptions {
  readonly spool: Spool;
  readonly lease: Lease;
  readonly answered: ReadonlySet<number>;
  readonly onLeave: () => void;
}

export class Watch implements Disposable {
  readonly since = Date.now();
  readonly #options: WatchOptions;
  readonly #missingMarks: Set<EndMark>;
  waiting = 0;
  #line: number;
  #offset: number | undefined;
  #partialLine: Buffer[] = [];
  #partialLineBytes = 0;
  #isReading = false;
  #isDisposed = false;
  #leaveTimer: NodeJS.Timeout | undefined;
  #silenceTimer: NodeJS.Timeout | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#missingMarks = new Set(options.lease.endMarks);
    this.#line = options.spool.stored.line;
    this.#begin().catch(options.onLeave);
  }

  get isWorking(): boolean {
    return this.#missingMarks.size > 0 || this.#options.lease.isAtWork === true;
  }

  wake(): void {
    const { silentMs } = this.#options.lease;
    clearTimeout(this.#silenceTimer);
    if (this.#isDisposed) return;
    if (silentMs !== null) this.#silenceTimer = setTimeout(this.#options.onLeave, silentMs);
    this.#read().catch(this.#options.onLeave);
  }

  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#leaveTimer);
    clearTimeout(this.#silenceTimer);
  }

  async #begin(): Promise<void> {
    const { spool } = this.#options;
    const { line, open } = spool.stored;
    for (const number of open) {
      const bytes = await spool.line(number);
      if (bytes) this.#inspect(bytes, number);
    }
    this.#offset = await spool.startOf(line + 1);
    this.wake();
  }

  async #read(): Promise<void> {
    if (this.#isReading || this.#offset === undefined) return;
    this.#isReading = true;
    while (!this.#isDisposed) {
      const found = await this.#options.spool.read(this.#offset);
      if (!found) break;
      this.#offset = found.next;
      this.#split(found.bytes);
    }
    this.#isReading = false;
    this.#updateLeaveTimer();
  }

  #split(bytes: Buffer): void {
    let from = 0;
    for (let to = bytes.indexOf(NEWLINE); to !== -1; to = bytes.indexOf(NEWLINE, from)) {
      this.#appendToLine(bytes.subarray(from, to));
      this.#line++;
      if (this.#partialLineBytes <= MAX_LINE_BYTES) this.#inspect(Buffer.concat(this.#partialLine), this.#line);
      this.#partialLine = [];
      this.#partialLineBytes = 0;
      from = to + 1;
    }
    // Copied, since a slice would retain the whole segment.
    this.#appendToLine(Buffer.from(bytes.subarray(from)));
  }

  #appendToLine(part: Buffer): void {
    this.#partialLineBytes += part.length;
    if (this.#partialLineBytes <= MAX_LINE_BYTES) this.#partialLine.push(part);
    else this.#partialLine = [];
  }

  #inspect(bytes: Buffer, line: number): void {
    const message = parseMessage(bytes);
    if (message === undefined) return;
    const { id, method } = message;
    const isRequest = typeof method === 'string' && (typeof id === 'string' || typeof id === 'number');
    if (isRequest && !this.#options.answered.has(line)) this.waiting++;
    for (const mark of this.#missingMarks) if (matchesMark(mark, message)) this.#missingMarks.delete(mark);
  }

  #updateLeaveTimer(): void {
    const { lease, onLeave } = this.#options;
    if (this.#isDisposed || this.#missingMarks.size > 0 || this.waiting > 0) {
      clearTimeout(this.#leaveTimer);
      this.#leaveTimer = undefined;
    } else if (lease.leaveAfterMs !== null) this.#leaveTimer ??= setTimeout(onLeave, lease.leaveAfterMs);
  }
}

export function matchesMark({ has, lacks = [] }: EndMark, message: Readonly<Record<string, unknown>>): boolean {
  return !lacks.some((name) => Object.hasOwn(message, name)) && contains(message, has);
}

function contains(value: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return value === wanted;
  if (Array.isArray(wanted)) return JSON.stringify(value) === JSON.stringify(wanted);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(wanted).every(([name, part]) => contains((value as Record<string, unknown>)[name], part));
}

function parseMessage(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  const value = parsedJson(bytes.toString('utf8'));
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}
