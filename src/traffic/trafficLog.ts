// The newest traffic of this window, in bounded memory. Parsed and redacted only when shown.
import { type Disposable, toDisposable } from '../base/disposable';
import { head } from '../base/text';

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

export class TrafficLog {
  readonly #bounds: TrafficBounds;
  readonly #ring: (TrafficEntry | undefined)[];
  readonly #listeners = new Set<() => void>();
  first = 0;
  next = 0;
  /** Total characters of all entries. */
  chars = 0;

  constructor(bounds: TrafficBounds = BOUNDS) {
    this.#bounds = bounds;
    this.#ring = new Array<TrafficEntry | undefined>(bounds.entries).fill(undefined);
  }

  /** Called for each message, so it must be cheap. */
  note(key: string, kind: TrafficKind, line: string, at: number): void {
    const { entries, chars, whole, beginning } = this.#bounds;
    const text = line.length > whole ? head(line, beginning) : line;
    while (this.next - this.first >= entries || (this.chars + text.length > chars && this.first < this.next))
      this.#drop();
    this.#ring[this.next % entries] = { seq: this.next, at, key, kind, text, length: line.length };
    this.next++;
    this.chars += text.length;
    if (this.#listeners.size > 0) for (const listener of this.#listeners) listener();
  }

  entry(seq: number): TrafficEntry | undefined {
    return seq < this.first || seq >= this.next ? undefined : this.#ring[seq % this.#bounds.entries];
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

  #drop(): void {
    const index = this.first % this.#bounds.entries;
    const oldest = this.#ring[index];
    if (!oldest) return;
    this.chars -= oldest.text.length;
    this.#ring[index] = undefined;
    this.first++;
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
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as WireMessage) : undefined;
  } catch {
    return undefined;
  }
}
