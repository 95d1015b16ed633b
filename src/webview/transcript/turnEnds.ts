// Finds the end of a turn, which can be far away from an item of the turn and not loaded.
import type { TurnView } from '../../panel/contract';
import type { ItemStore } from '../entries/itemStore';
import { post } from '../host/host';

/** Maximum number of items per message of the host. */
const MAX_ITEMS = 200;

/** The end of a turn, or the first item to load to find it. */
export type TurnEnd = { readonly index: number; readonly turn: TurnView } | { readonly missing: number } | undefined;

export class TurnEnds {
  readonly #store: ItemStore;
  #pendingSearch: { readonly turnId: string; readonly from: number; found(index: number): void } | undefined;

  constructor(store: ItemStore) {
    this.#store = store;
  }

  find(turnId: string, from: number): TurnEnd {
    for (let index = from; index < this.#store.total; index++) {
      const item = this.#store.get(index)?.item;
      if (!item) return { missing: index };
      if (item.kind === 'turn_end' && item.turn.id === turnId) return { index, turn: item.turn };
    }
    return undefined;
  }

  seek(turnId: string, from: number, found: (index: number) => void): void {
    this.#pendingSearch = undefined;
    const end = this.find(turnId, from);
    if (end === undefined) return;
    if ('index' in end) {
      found(end.index);
      return;
    }
    this.#pendingSearch = { turnId, from, found };
    post({ type: 'page', from: end.missing, to: end.missing + MAX_ITEMS });
  }

  arrived(): void {
    if (this.#pendingSearch) this.seek(this.#pendingSearch.turnId, this.#pendingSearch.from, this.#pendingSearch.found);
  }

  clear(): void {
    this.#pendingSearch = undefined;
  }
}
