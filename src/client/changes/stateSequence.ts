// Takes states of a session's folders, one at a time and no more often than their cost allows.
import type { FolderStates, Snapshot } from '../../changes/model/fileChange';

/** May or may not include what changed while it was taken. */
export interface TakenState {
  readonly snapshot: Snapshot;
  readonly began: number;
  readonly ended: number;
}

/** Background states wait this multiple of the last state's duration. */
const PAUSE_FACTOR = 9;

export class StateSequence {
  readonly #states: () => Promise<FolderStates>;
  readonly #now: () => number;
  #latest: TakenState | undefined;
  #firstEnded: number | undefined;
  #runningCount = 0;
  #lastMark = 0;
  #latestMark = 0;

  constructor(states: () => Promise<FolderStates>, now: () => number) {
    this.#states = states;
    this.#now = now;
  }

  get latest(): TakenState | undefined {
    return this.#latest;
  }

  /**
   * Returns whether every state may include something written since a time.
   * @param at ms since 1970
   */
  isLateFor(at: number): boolean {
    return this.#firstEnded === undefined || this.#firstEnded > at;
  }

  mark(): number {
    return ++this.#lastMark;
  }

  take(signal: AbortSignal): Promise<TakenState> {
    return this.takeSince(this.mark(), signal);
  }

  /** Returns the latest state if it began after `mark`: fast turns share states. */
  async takeSince(mark: number, signal: AbortSignal): Promise<TakenState> {
    if (this.#latest && this.#latestMark >= mark) return this.#latest;
    this.#runningCount++;
    const began = this.#now();
    const order = this.#lastMark;
    try {
      const snapshot = await (await this.#states()).take(signal);
      const taken = { snapshot, began, ended: this.#now() };
      this.#firstEnded ??= taken.ended;
      if (!signal.aborted) {
        this.#latest = taken;
        this.#latestMark = order;
      }
      return taken;
    } finally {
      this.#runningCount--;
    }
  }

  /** Keeps the time spent on states below a tenth. @param pauseMs minimum */
  waitMs(pauseMs: number): number {
    if (this.#runningCount > 0) return pauseMs;
    if (!this.#latest) return 0;
    const { began, ended } = this.#latest;
    return Math.max(0, ended + Math.max(pauseMs, PAUSE_FACTOR * (ended - began)) - this.#now());
  }
}
