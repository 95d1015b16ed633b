// Spreads what many sessions do at the same moment: one piece in each iteration of the event loop,
// so that other work comes between.
export class Pace {
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;

  /** Runs a piece now if it is the first in this iteration, otherwise in a later one. */
  run(piece: () => void): void {
    if (this.#isBusy) {
      this.#waiting.push(piece);
      return;
    }
    this.#isBusy = true;
    setImmediate(this.#next);
    piece();
  }

  /** As {@link run}: returns undefined if the piece can run now, otherwise its turn. */
  turn(): Promise<void> | undefined {
    if (this.#isBusy) return new Promise((resolve) => this.#waiting.push(resolve));
    this.run(() => {});
    return undefined;
  }

  readonly #next = (): void => {
    const piece = this.#waiting.shift();
    if (!piece) {
      this.#isBusy = false;
      return;
    }
    setImmediate(this.#next);
    piece();
  };
}
