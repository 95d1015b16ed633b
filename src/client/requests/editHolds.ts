// Holds queued messages while they are edited, until every page that edits one has released it.
import type { PromptQueue } from '../../session/queue/queue';

export class EditHolds {
  readonly #queue: PromptQueue;
  readonly #onRelease: () => void;
  /** Pages by item id. */
  readonly #holders = new Map<string, Set<object>>();

  constructor(queue: PromptQueue, released: () => void) {
    this.#queue = queue;
    this.#onRelease = released;
  }

  hold(id: string, page: object): void {
    if (!this.#queue.hold(id, true)) return;
    const holders = this.#holders.get(id) ?? new Set();
    this.#holders.set(id, holders.add(page));
  }

  release(id: string, page: object): void {
    const holders = this.#holders.get(id);
    if (!holders?.delete(page) || holders.size > 0) return;
    this.#holders.delete(id);
    this.#queue.hold(id, false);
    this.#onRelease();
  }

  /** Call when a page is hidden, closed, or shows another session. */
  releaseAll(page: object): void {
    for (const id of [...this.#holders.keys()]) this.release(id, page);
  }
}
