// Remembers the newest of many ids, to know a repetition.

/** Ids that are remembered. */
const MAX_IDS = 200;

export class RecentIds {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > MAX_IDS && oldest !== undefined) this.#ids.delete(oldest);
  }

  clear(): void {
    this.#ids.clear();
  }
}
