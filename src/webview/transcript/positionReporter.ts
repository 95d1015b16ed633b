// Reports the scroll position shortly after a change, once it is certain: positions among undrawn
// entries are not.
import type { Anchor } from '../../panel/contract';
import { post, saveUiState } from '../host/host';

const REPORT_DELAY_MS = 400;

export class PositionReporter {
  readonly #place: () => Anchor | null | undefined;
  readonly #invalidate: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = false;
  lastReported: Anchor | null = null;

  /** @param place returns the position: null at the end, undefined while it is uncertain */
  constructor(place: () => Anchor | null | undefined, invalidate: () => void) {
    this.#place = place;
    this.#invalidate = invalidate;
  }

  atEnd(): void {
    this.#due = false;
    this.#report(null);
  }

  moved(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#due = true;
      this.#invalidate();
    }, REPORT_DELAY_MS);
  }

  /** Call it when everything requested is drawn. */
  reportIfDue(): void {
    if (!this.#due) return;
    const place = this.#place();
    if (place === undefined) return;
    this.#due = false;
    this.#report(place);
  }

  #report(anchor: Anchor | null): void {
    this.lastReported = anchor;
    saveUiState({ anchor: anchor ?? undefined });
    post({ type: 'scrolled', anchor });
  }
}
