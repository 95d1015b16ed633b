// The number of matches per entry, and navigation between matches.
import type { ToWebview } from '../../panel/contract';

/** The nth match of an entry, from 0. */
export interface Match {
  readonly index: number;
  readonly nth: number;
}

export class MatchCounts {
  readonly #counts = new Map<number, number>();
  total = 0;
  #last = -1;
  /** Cached number of matches before the last requested entry. */
  #countBefore = { index: 0, count: 0 };

  apply({ counts, isNew }: Pick<Extract<ToWebview, { type: 'found' }>, 'counts' | 'isNew'>): void {
    if (isNew) this.clear();
    for (const [index, count] of counts) {
      const more = count - this.of(index);
      this.#counts.set(index, count);
      this.total += more;
      this.#last = Math.max(this.#last, index);
      if (index < this.#countBefore.index) this.#countBefore.count += more;
    }
  }

  clear(): void {
    this.#counts.clear();
    this.total = 0;
    this.#last = -1;
    this.#countBefore = { index: 0, count: 0 };
  }

  of(index: number): number {
    return this.#counts.get(index) ?? 0;
  }

  numberOf({ index, nth }: Match): number {
    if (index !== this.#countBefore.index) {
      let count = 0;
      for (const [at, matches] of this.#counts) if (at < index) count += matches;
      this.#countBefore = { index, count };
    }
    return this.#countBefore.count + nth + 1;
  }

  /** Returns the first match in or after an entry, otherwise the last one before it. */
  near(index: number): Match | undefined {
    for (let at = index; at <= this.#last; at++) if (this.of(at) > 0) return { index: at, nth: 0 };
    return this.previous({ index, nth: 0 });
  }

  /** Returns the first match in or after an entry, otherwise the first of all. */
  from(index: number): Match | undefined {
    return this.total === 0 ? undefined : this.#search(index, 1);
  }

  next({ index, nth }: Match): Match | undefined {
    return nth + 1 < this.of(index) ? { index, nth: nth + 1 } : this.from(index + 1);
  }

  previous({ index, nth }: Match): Match | undefined {
    if (this.total === 0) return undefined;
    if (nth > 0 && this.of(index) > 0) return { index, nth: Math.min(nth, this.of(index)) - 1 };
    const { index: at } = this.#search(index - 1, -1);
    return { index: at, nth: this.of(at) - 1 };
  }

  /** Wraps around at both ends. */
  #search(index: number, step: 1 | -1): Match {
    const entries = this.#last + 1;
    let at = index > this.#last ? (step === 1 ? 0 : this.#last) : index < 0 ? this.#last : index;
    while (this.of(at) === 0) at = (at + step + entries) % entries;
    return { index: at, nth: 0 };
  }
}
