// Finds the end of a turn, which can be far away from an item of the turn and not loaded yet.
import type { TurnView } from '../../panel/contract';
import type { ItemStore } from '../entries/itemStore';
import { post } from '../host/host';

/** Items per request, as many as the host sends at once. */
const ITEMS = 200;

/** Where a turn ends: the item, or the first item that has to be loaded to tell. */
export type TurnEnd =
  | { readonly index: number; readonly turn: TurnView }
  | { readonly missing: number }
  /** It runs, or its end is not in the transcript. */
  | undefined;

export class TurnEnds {
  readonly #store: ItemStore;
  /** What to do once the end of a turn is found. */
  #sought: { readonly turnId: string; readonly from: number; found(index: number): void } | undefined;

  constructor(store: ItemStore) {
    this.#store = store;
  }

  /** Looks from the item at an index on. */
  find(turnId: string, from: number): TurnEnd {
    for (let index = from; index < this.#store.total; index++) {
      const item = this.#store.get(index)?.item;
      if (!item) return { missing: index };
      if (item.kind === 'turn_end' && item.turn.id === turnId) return { index, turn: item.turn };
    }
    return undefined;
  }

  /** Calls `found` with the index of the end of a turn, at once or when it is loaded. */
  seek(turnId: string, from: number, found: (index: number) => void): void {
    this.#sought = undefined;
    const end = this.find(turnId, from);
    if (end === undefined) return;
    if ('index' in end) {
      found(end.index);
      return;
    }
    this.#sought = { turnId, from, found };
    post({ type: 'page', from: end.missing, to: end.missing + ITEMS });
  }

  /** More items are loaded. */
  arrived(): void {
    if (this.#sought) this.seek(this.#sought.turnId, this.#sought.from, this.#sought.found);
  }

  clear(): void {
    this.#sought = undefined;
  }
}
