// Tells where the reader is, a little after they moved and as soon as that is certain: what is not drawn yet has no place in it.
import type { Anchor } from '../../panel/contract';

/** So long after the first of many moves, ms. */
const REST = 400;

export class PlaceKeeper {
  readonly #place: () => Anchor | null | undefined;
  readonly #tell: (anchor: Anchor | null) => void;
  readonly #invalidate: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = false;
  #last: Anchor | null = null;

  /**
   * @param place where the reader is: null at the end, undefined as long as it is not certain
   * @param invalidate call `look` in the next frame
   */
  constructor(place: () => Anchor | null | undefined, tell: (anchor: Anchor | null) => void, invalidate: () => void) {
    this.#place = place;
    this.#tell = tell;
    this.#invalidate = invalidate;
  }

  /** The place that was told last. */
  get last(): Anchor | null {
    return this.#last;
  }

  /** The reader is at the end. */
  atEnd(): void {
    this.#due = false;
    this.#last = null;
    this.#tell(null);
  }

  /** The reader moved. */
  moved(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#due = true;
      this.#invalidate();
    }, REST);
  }

  /** All that is wanted is drawn: it may be certain now. */
  look(): void {
    if (!this.#due) return;
    const place = this.#place();
    if (place === undefined) return;
    this.#due = false;
    this.#last = place;
    this.#tell(place);
  }
}
