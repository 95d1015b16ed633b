// Where keys lead in the transcript: to the next entry that is drawn at its own place, and to the
// messages of the user.
import type { ItemStore } from '../entries/itemStore';
import type { Nesting } from './nesting';
import { focusedIndex } from './rovingFocus';

export interface KeyMovesOptions {
  readonly store: ItemStore;
  readonly nesting: Nesting;
  /** The first item on the screen; undefined at the end. */
  shown(): number | undefined;
  reveal(index: number): void;
}

export class KeyMoves {
  readonly #options: KeyMovesOptions;

  constructor(options: KeyMovesOptions) {
    this.#options = options;
  }

  toEdge(edge: 'first' | 'last'): void {
    if (edge === 'first') this.toIndex(0, 1);
    else this.toIndex(this.#options.store.total - 1, -1);
  }

  /** Goes to an item, or to the next one that is not nested. */
  toIndex(from: number, step: 1 | -1): void {
    const { nesting, reveal } = this.#options;
    let index = from;
    while (nesting.hides(index)) index += step;
    reveal(index);
  }

  /** Goes to the user's message before or after what has the focus, else what is on the screen. */
  toPrompt(step: 1 | -1): void {
    const { store, shown } = this.#options;
    this.toMessage(focusedIndex() ?? shown() ?? store.total, step);
  }

  /** Where items are not loaded, goes there: they are requested, and the next key goes on. */
  toMessage(from: number, step: 1 | -1): void {
    const { store, reveal } = this.#options;
    for (let index = from + step; index >= 0 && index < store.total; index += step) {
      const item = store.get(index)?.item;
      if (store.isNested(index) || (item && item.kind !== 'user')) continue;
      reveal(index);
      return;
    }
  }
}
