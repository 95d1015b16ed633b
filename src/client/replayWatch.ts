// Takes the updates of a session that is opened again. The transcript is cleared when the first of them comes, not before: an agent that refuses has said nothing,
// and what stands is kept. Some agents answer before their replay, or in the midst of it, so the answer alone does not end the wait.

/** How long an agent that has answered may stay silent before its replay counts as over, and the most that is waited, in milliseconds. */
const SILENCE_MS = 150;
const LONGEST_MS = 3000;

export interface ReplayWatchOptions {
  readonly onUpdates: (updates: readonly unknown[]) => void;
  /** Empties the transcript. */
  readonly clear: () => void;
}

export class ReplayWatch {
  readonly #options: ReplayWatchOptions;
  #cleared = false;
  #heard: (() => void) | undefined;

  constructor(options: ReplayWatchOptions) {
    this.#options = options;
  }

  /** The sink for the session's updates, for as long as it lives. */
  readonly take = (updates: readonly unknown[]): void => {
    this.begin();
    this.#options.onUpdates(updates);
    this.#heard?.();
  };

  /** The replay has begun, or the agent has answered that the session is open. */
  begin(): void {
    if (this.#cleared) return;
    this.#cleared = true;
    this.#options.clear();
  }

  /** Resolves when nothing came for a moment. Aborted: at once. */
  quiet(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(silence);
        clearTimeout(longest);
        this.#heard = undefined;
        signal.removeEventListener('abort', done);
        resolve();
      };
      let silence = setTimeout(done, SILENCE_MS);
      const longest = setTimeout(done, LONGEST_MS);
      this.#heard = () => {
        clearTimeout(silence);
        silence = setTimeout(done, SILENCE_MS);
      };
      signal.addEventListener('abort', done, { once: true });
      if (signal.aborted) done();
    });
  }
}
