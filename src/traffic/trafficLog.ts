// The newest traffic of this window, in bounded memory. Parsed and redacted only when shown.
import { type Disposable, toDisposable } from '../base/disposable';
import { head } from '../base/text';
import { parseMessage } from '../base/untrusted';

/** A message to (`out`) or from (`in`) the agent, a stderr line, or other stdout (`noise`). */
export type TrafficKind = 'in' | 'out' | 'stderr' | 'noise';

export interface TrafficEntry {
  readonly seq: number;
  /** ms since 1970. */
  readonly at: number;
  readonly key: string;
  readonly kind: TrafficKind;
  readonly text: string;
  /** Characters of the whole line. */
  readonly length: number;
}

const BOUNDS = {
  entries: 5_000,
  /** Total characters. */
  chars: 8 * 1024 * 1024,
  /** Characters above which an entry is truncated. */
  whole: 1024 * 1024,
  /** Characters that remain of a truncated entry. */
  beginning: 16 * 1024,
};

export type TrafficBounds = Readonly<typeof BOUNDS>;

/**
 * Bytes of a page. Pages are outside of V8's heap: thousands of entries a second that live for some
 * seconds would make its young generation grow to many times their size.
 */
const PAGE_BYTES = 256 * 1024;

interface Page {
  readonly bytes: Buffer;
  used: number;
}

const KINDS: readonly TrafficKind[] = ['in', 'out', 'stderr', 'noise'];

export class TrafficLog {
  readonly #bounds: TrafficBounds;
  readonly #listeners = new Set<() => void>();
  // Each a ring with a place for each entry.
  readonly #pages: (Page | undefined)[];
  readonly #keys: string[];
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;
  readonly #chars: Uint32Array;
  readonly #lengths: Uint32Array;
  readonly #kinds: Uint8Array;
  readonly #times: Float64Array;
  #page: Page = { bytes: Buffer.alloc(0), used: 0 };
  #spare: Page | undefined;
  first = 0;
  next = 0;
  /** Total characters of all entries. */
  chars = 0;

  constructor(bounds: TrafficBounds = BOUNDS) {
    const { entries } = bounds;
    this.#bounds = bounds;
    this.#pages = new Array<Page | undefined>(entries).fill(undefined);
    this.#keys = new Array<string>(entries).fill('');
    this.#starts = new Uint32Array(entries);
    this.#ends = new Uint32Array(entries);
    this.#chars = new Uint32Array(entries);
    this.#lengths = new Uint32Array(entries);
    this.#kinds = new Uint8Array(entries);
    this.#times = new Float64Array(entries);
  }

  /** Called for each message, so it must be cheap. */
  note(key: string, kind: TrafficKind, line: string, at: number): void {
    const { entries, chars, whole, beginning } = this.#bounds;
    const text = line.length > whole ? head(line, beginning) : line;
    while (this.next - this.first >= entries || (this.chars + text.length > chars && this.first < this.next))
      this.#drop();
    const place = this.next % entries;
    const page = this.#pageFor(Buffer.byteLength(text));
    this.#pages[place] = page;
    this.#keys[place] = key;
    this.#starts[place] = page.used;
    page.used += page.bytes.write(text, page.used);
    this.#ends[place] = page.used;
    this.#chars[place] = text.length;
    this.#lengths[place] = line.length;
    this.#kinds[place] = KINDS.indexOf(kind);
    this.#times[place] = at;
    this.next++;
    this.chars += text.length;
    if (this.#listeners.size > 0) for (const listener of this.#listeners) listener();
  }

  entry(seq: number): TrafficEntry | undefined {
    const place = seq % this.#bounds.entries;
    const page = seq < this.first || seq >= this.next ? undefined : this.#pages[place];
    return (
      page && {
        seq,
        at: this.#times[place]!,
        key: this.#keys[place]!,
        kind: KINDS[this.#kinds[place]!]!,
        text: page.bytes.toString('utf8', this.#starts[place], this.#ends[place]),
        length: this.#lengths[place]!,
      }
    );
  }

  /** Returns entries from a number on, oldest first, ending early if they are dropped. */
  *entries(from = this.first): Generator<TrafficEntry> {
    for (let seq = Math.max(from, this.first); seq < this.next; seq++) {
      const entry = this.entry(seq);
      if (entry) yield entry;
    }
  }

  clear(): void {
    while (this.first < this.next) this.#drop();
    for (const listener of this.#listeners) listener();
  }

  /** @param listener called after each change; must be cheap */
  onDidChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  }

  #pageFor(bytes: number): Page {
    if (this.#page.used + bytes > this.#page.bytes.length) {
      const spare = bytes <= PAGE_BYTES ? this.#spare : undefined;
      if (spare) this.#spare = undefined;
      this.#page = spare ?? { bytes: Buffer.allocUnsafeSlow(Math.max(bytes, PAGE_BYTES)), used: 0 };
    }
    return this.#page;
  }

  #drop(): void {
    const { entries } = this.#bounds;
    const place = this.first % entries;
    const page = this.#pages[place];
    this.chars -= this.#chars[place]!;
    this.#pages[place] = undefined;
    this.first++;
    const isLast = page !== this.#page && page !== this.#pages[this.first % entries];
    if (page && isLast && page.bytes.length === PAGE_BYTES) {
      page.used = 0;
      this.#spare = page;
    }
  }
}

export type WireMessage = Readonly<Record<string, unknown>>;

export function messageOf({
  kind,
  text,
  length,
}: Pick<TrafficEntry, 'kind' | 'text' | 'length'>): WireMessage | undefined {
  return (kind === 'in' || kind === 'out') && length === text.length ? jsonObject(text) : undefined;
}

export function jsonObject(text: string): WireMessage | undefined {
  try {
    const value: unknown = parseMessage(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as WireMessage) : undefined;
  } catch {
    return undefined;
  }
}
