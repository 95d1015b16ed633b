// The newest traffic with the agents of this window, in bounded memory. Nothing is parsed or
// redacted here: that is done with what somebody looks at (trafficFeed.ts, cleanText.ts).
import { type Disposable, toDisposable } from '../base/disposable';
import { head } from '../base/text';

/**
 * What was written: a message to (`out`) or from (`in`) the agent, a line of its stderr, or a line
 * of its stdout that is no message (`noise`).
 */
export type TrafficKind = 'in' | 'out' | 'stderr' | 'noise';

export interface TrafficEntry {
  /** Counts the entries of a window. */
  readonly seq: number;
  /** ms since 1970. */
  readonly at: number;
  /** Of the conversation. */
  readonly key: string;
  readonly kind: TrafficKind;
  /** As it was on the wire; of a long one, the beginning. */
  readonly text: string;
  /** Characters of the whole. */
  readonly length: number;
}

/** Bounds of a {@link TrafficLog}. */
export interface TrafficBounds {
  readonly entries: number;
  /** Of all entries, in characters. */
  readonly chars: number;
  /** Of a single entry that is kept whole, in characters. */
  readonly whole: number;
  /** What is kept of a longer one, in characters. */
  readonly beginning: number;
}

const BOUNDS: TrafficBounds = {
  entries: 5_000,
  chars: 8 * 1024 * 1024,
  whole: 1024 * 1024,
  beginning: 16 * 1024,
};

export class TrafficLog {
  readonly #bounds: TrafficBounds;
  readonly #ring: (TrafficEntry | undefined)[];
  readonly #listeners = new Set<() => void>();
  #first = 0;
  #next = 0;
  #chars = 0;

  constructor(bounds: TrafficBounds = BOUNDS) {
    this.#bounds = bounds;
    this.#ring = new Array<TrafficEntry | undefined>(bounds.entries).fill(undefined);
  }

  /** The number of the oldest entry that is kept; {@link next} where there is none. */
  get first(): number {
    return this.#first;
  }

  /** The number that the next entry gets. */
  get next(): number {
    return this.#next;
  }

  /** Characters that are kept. */
  get chars(): number {
    return this.#chars;
  }

  /** Notes what went over the wire. Called for each message, so it does nothing else. */
  note(key: string, kind: TrafficKind, line: string, at: number): void {
    const { entries, chars, whole, beginning } = this.#bounds;
    const text = line.length > whole ? head(line, beginning) : line;
    while (this.#next - this.#first >= entries || (this.#chars + text.length > chars && this.#first < this.#next))
      this.#drop();
    this.#ring[this.#next % entries] = { seq: this.#next, at, key, kind, text, length: line.length };
    this.#next++;
    this.#chars += text.length;
    if (this.#listeners.size > 0) for (const listener of this.#listeners) listener();
  }

  /** Returns an entry that is still kept. */
  entry(seq: number): TrafficEntry | undefined {
    return seq < this.#first || seq >= this.#next ? undefined : this.#ring[seq % this.#bounds.entries];
  }

  /** The entries from a number on, oldest first. Ends early where they are dropped meanwhile. */
  *entries(from = this.#first): Generator<TrafficEntry> {
    for (let seq = Math.max(from, this.#first); seq < this.#next; seq++) {
      const entry = this.entry(seq);
      if (entry) yield entry;
    }
  }

  /** Forgets everything; numbers go on. */
  clear(): void {
    while (this.#first < this.#next) this.#drop();
    for (const listener of this.#listeners) listener();
  }

  /** @param listener called after each change; must be cheap */
  onDidChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  }

  #drop(): void {
    const index = this.#first % this.#bounds.entries;
    const oldest = this.#ring[index];
    if (!oldest) return;
    this.#chars -= oldest.text.length;
    this.#ring[index] = undefined;
    this.#first++;
  }
}
