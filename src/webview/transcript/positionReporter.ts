// Reports the scroll position shortly after it changed, once it is certain: positions among entries
// not drawn yet are not.
import type { Anchor } from '../../panel/contract';
import { post, saveUiState } from '../host/host';

/** Delay after the first of several changes, ms. */
const REST = 400;

export class PositionReporter {
  readonly #place: () => Anchor | null | undefined;
  readonly #invalidate: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = false;
  #last: Anchor | null = null;

  /**
   * @param place returns the scroll position: null at the end, undefined while it is uncertain
   * @param invalidate requests a call of `look` in the next frame
   */
  constructor(place: () => Anchor | null | undefined, invalidate: () => void) {
    this.#place = place;
    this.#invalidate = invalidate;
  }

  /** The position reported last. */
  get last(): Anchor | null {
    return this.#last;
  }

  /** The view is at the end. */
  atEnd(): void {
    this.#due = false;
    this.#report(null);
  }

  /** The scroll position changed. */
  moved(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#due = true;
      this.#invalidate();
    }, REST);
  }

  /** Everything requested is drawn, so the position may be certain now. */
  look(): void {
    if (!this.#due) return;
    const place = this.#place();
    if (place === undefined) return;
    this.#due = false;
    this.#report(place);
  }

  #report(anchor: Anchor | null): void {
    this.#last = anchor;
    saveUiState({ anchor: anchor ?? undefined });
    post({ type: 'scrolled', anchor });
  }
}
