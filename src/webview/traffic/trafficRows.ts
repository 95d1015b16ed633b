// The rows of the inspector, and those that match its filters.

import type { TrafficRow } from '../../panel/trafficContract';
import { firstIndex } from '../text/firstIndex';

/** Empty fields do not filter. */
export interface TrafficFilter {
  readonly direction: string;
  readonly method: string;
  readonly session: string;
  readonly errorsOnly: boolean;
  /** Whether there is a search text; the host searches the contents. */
  readonly hasText: boolean;
}

/** An agent can use any number of methods. */
const MAX_METHODS = 300;

export class TrafficRows {
  /** Responses by the row of their request. */
  readonly answers = new Map<number, { readonly seq: number; readonly ms: number }>();
  readonly #methods = new Map<string, number>();
  #rows: TrafficRow[] = [];
  matching: TrafficRow[] = [];
  #searchHits = new Set<number>();
  #filter: TrafficFilter = { direction: '', method: '', session: '', errorsOnly: false, hasText: false };

  get total(): number {
    return this.#rows.length;
  }

  get methods(): readonly string[] {
    return [...this.#methods.keys()].sort();
  }

  /**
   * @param first earlier rows are removed
   * @param found rows with the search text
   */
  add(rows: readonly TrafficRow[], first: number, found: readonly number[]): void {
    for (const seq of found) this.#searchHits.add(seq);
    for (const row of rows) {
      const { request, ms, method } = row;
      if (request !== undefined && ms !== undefined) this.answers.set(request, { seq: row.seq, ms });
      if (method !== '' && row.kind !== 'text' && (this.#methods.size < MAX_METHODS || this.#methods.has(method)))
        this.#methods.set(method, (this.#methods.get(method) ?? 0) + 1);
      this.#rows.push(row);
      if (this.#matchesFilter(row)) this.matching.push(row);
    }
    this.#dropBefore(first);
  }

  setFound(seqs: readonly number[]): void {
    this.#searchHits = new Set(seqs);
    this.filter = this.#filter;
  }

  set filter(filter: TrafficFilter) {
    this.#filter = filter;
    if (!filter.hasText) this.#searchHits.clear();
    this.matching = this.#rows.filter((row) => this.#matchesFilter(row));
  }

  has(seq: number): boolean {
    return rowIndex(this.#rows, seq) !== -1;
  }

  indexOf(seq: number | undefined): number {
    return seq === undefined ? -1 : rowIndex(this.matching, seq);
  }

  #dropBefore(first: number): void {
    const removed = countBefore(this.#rows, first);
    if (removed === 0) return;
    for (const { seq, method } of this.#rows.splice(0, removed)) {
      this.answers.delete(seq);
      this.#searchHits.delete(seq);
      const count = this.#methods.get(method);
      if (count === 1) this.#methods.delete(method);
      else if (count !== undefined) this.#methods.set(method, count - 1);
    }
    this.matching.splice(0, countBefore(this.matching, first));
  }

  #matchesFilter({ seq, direction, method, key, kind, isError }: TrafficRow): boolean {
    const filter = this.#filter;
    if (filter.direction !== '' && direction !== filter.direction) return false;
    if (filter.method !== '' && (kind === 'text' || method !== filter.method)) return false;
    if (filter.session !== '' && key !== filter.session) return false;
    if (filter.errorsOnly && !isError && direction !== 'stderr') return false;
    return !filter.hasText || this.#searchHits.has(seq);
  }
}

function countBefore(rows: readonly TrafficRow[], first: number): number {
  return firstIndex(0, rows.length, (index) => rows[index]!.seq >= first);
}

function rowIndex(rows: readonly TrafficRow[], seq: number): number {
  const index = countBefore(rows, seq);
  return rows[index]?.seq === seq ? index : -1;
}
