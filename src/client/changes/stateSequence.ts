// Takes the states of a session's folders, one after the other, and never more often than they are
// worth.
import type { Snapshot } from '../../changes/model/fileChange';
import type { FolderStates } from '../../changes/model/folderStore';

/** A state with the time it was read in: what changed during that time may be in it or not. */
export interface TakenState {
  readonly snapshot: Snapshot;
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly ended: number;
}

/** So much longer than a state takes must pass before the next one that nobody waits for. */
const SHARE = 9;

export class StateSequence {
  readonly #states: () => Promise<FolderStates>;
  readonly #now: () => number;
  #latest: TakenState | undefined;
  #firstEnded: number | undefined;
  /** States that are being taken. */
  #open = 0;
  /** Counts what is asked for, and where in that order the newest state began. */
  #asked = 0;
  #latestBegan = 0;

  /** @param now ms since 1970, as the files' own times */
  constructor(states: () => Promise<FolderStates>, now: () => number) {
    this.#states = states;
    this.#now = now;
  }

  /** The newest state that was taken. */
  get latest(): TakenState | undefined {
    return this.#latest;
  }

  /**
   * Returns whether something that was written since then may be in every state that was taken.
   * @param at ms since 1970
   */
  isLateFor(at: number): boolean {
    return this.#firstEnded === undefined || this.#firstEnded > at;
  }

  /** Returns a mark of this moment, for {@link takeSince}. */
  mark(): number {
    return ++this.#asked;
  }

  /** Takes a state that has everything in it that was on disk when this was called. */
  take(signal: AbortSignal): Promise<TakenState> {
    return this.takeSince(this.mark(), signal);
  }

  /**
   * Returns a state that has everything in it that was on disk at a moment: the newest one, where it
   * began after that. So turns that come faster than states are taken share them.
   */
  async takeSince(mark: number, signal: AbortSignal): Promise<TakenState> {
    if (this.#latest && this.#latestBegan >= mark) return this.#latest;
    this.#open++;
    const began = this.#now();
    const order = this.#asked;
    try {
      const snapshot = await (await this.#states()).take(signal);
      const taken = { snapshot, began, ended: this.#now() };
      this.#firstEnded ??= taken.ended;
      if (!signal.aborted) {
        this.#latest = taken;
        this.#latestBegan = order;
      }
      return taken;
    } finally {
      this.#open--;
    }
  }

  /**
   * Returns how long to wait until a state may be taken that nobody waits for, in milliseconds: at
   * most a tenth of the time goes into states.
   * @param pauseMs at least so long after the last one
   */
  waitMs(pauseMs: number): number {
    if (this.#open > 0) return pauseMs;
    if (!this.#latest) return 0;
    const { began, ended } = this.#latest;
    return Math.max(0, ended + Math.max(pauseMs, SHARE * (ended - began)) - this.#now());
  }
}
