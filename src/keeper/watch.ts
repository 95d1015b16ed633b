// Watches the agent while no window is attached: looks for end marks in its lines, counts requests
// that wait for a window, and decides when the agent exits.
import type { Disposable } from '../base/disposable';
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
  readonly #marks: Set<EndMark>;
  waiting = 0;
  #line: number;
  #offset: number | undefined;
  #rest: Buffer[] = [];
  #restBytes = 0;
  #isReading = false;
  #isDisposed = false;
  #leaving: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#marks = new Set(options.lease.endMarks);
    this.#line = options.spool.stored.line;
    this.#begin().catch(options.onLeave);
  }

  get isWorking(): boolean {
    return this.#marks.size > 0 || this.#options.lease.isAtWork === true;
  }

  wake(): void {
    const { silentMs } = this.#options.lease;
    clearTimeout(this.#silence);
    if (this.#isDisposed) return;
    if (silentMs !== null) this.#silence = setTimeout(this.#options.onLeave, silentMs);
    this.#read().catch(this.#options.onLeave);
  }

  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#leaving);
    clearTimeout(this.#silence);
  }

  async #begin(): Promise<void> {
    const { spool } = this.#options;
    const { line, open } = spool.stored;
    for (const number of open) {
      const bytes = await spool.line(number);
      if (bytes) this.#look(bytes, number);
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
    this.#judge();
  }

  #split(bytes: Buffer): void {
    let from = 0;
    for (let to = bytes.indexOf(NEWLINE); to !== -1; to = bytes.indexOf(NEWLINE, from)) {
      this.#keep(bytes.subarray(from, to));
      this.#line++;
      if (this.#restBytes <= MAX_LINE_BYTES) this.#look(Buffer.concat(this.#rest), this.#line);
      this.#rest = [];
      this.#restBytes = 0;
      from = to + 1;
    }
    // Copied, since a slice would retain the whole segment.
    this.#keep(Buffer.from(bytes.subarray(from)));
  }

  #keep(part: Buffer): void {
    this.#restBytes += part.length;
    if (this.#restBytes <= MAX_LINE_BYTES) this.#rest.push(part);
    else this.#rest = [];
  }

  #look(bytes: Buffer, line: number): void {
    const message = parsed(bytes);
    if (message === undefined) return;
    const { id, method } = message;
    const isRequest = typeof method === 'string' && (typeof id === 'string' || typeof id === 'number');
    if (isRequest && !this.#options.answered.has(line)) this.waiting++;
    for (const mark of this.#marks) if (isMet(mark, message)) this.#marks.delete(mark);
  }

  #judge(): void {
    const { lease, onLeave } = this.#options;
    if (this.#isDisposed || this.#marks.size > 0 || this.waiting > 0) {
      clearTimeout(this.#leaving);
      this.#leaving = undefined;
    } else if (lease.leaveAfterMs !== null) this.#leaving ??= setTimeout(onLeave, lease.leaveAfterMs);
  }
}

export function isMet({ has, lacks = [] }: EndMark, message: Readonly<Record<string, unknown>>): boolean {
  return !lacks.some((name) => Object.hasOwn(message, name)) && contains(message, has);
}

function contains(value: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return value === wanted;
  if (Array.isArray(wanted)) return JSON.stringify(value) === JSON.stringify(wanted);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(wanted).every(([name, part]) => contains((value as Record<string, unknown>)[name], part));
}

function parsed(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
