// Reports the scroll position shortly after a change, once all entries around it are drawn.
import type { Anchor } from '../../panel/contract';
import { post, saveUiState } from '../host/host';

const REPORT_DELAY_MS = 400;

export class PositionReporter {
  readonly #position: () => Anchor | null | undefined;
  readonly #invalidate: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = false;
  lastReported: Anchor | null = null;

  /** @param position returns the position: null at the end, undefined while it is uncertain */
  constructor(position: () => Anchor | null | undefined, invalidate: () => void) {
    this.#position = position;
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
    const position = this.#position();
    if (position === undefined) return;
    this.#due = false;
    this.#report(position);
  }

  #report(anchor: Anchor | null): void {
    this.lastReported = anchor;
    saveUiState({ anchor: anchor ?? undefined });
    post({ type: 'scrolled', anchor });
  }
}
