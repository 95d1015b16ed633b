// Releases what was recorded of sessions that are deleted, and bounds what all sessions keep of
// their folders.
import type { Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { openStateRetention } from '../../changes/stateRetention';
import type { ReviewStorage } from '../../client/changes/changeServices';
import type { SessionRecord } from '../../store/sessions/records';

/** Between two times that a window makes the stores small, in milliseconds. */
const COLLECT_EVERY_MS = 6 * 60 * 60 * 1000;

export interface KeptStatesOptions {
  /** The folder with the states of all folders. */
  readonly storage: string;
  readonly environment: () => Promise<Record<string, string>>;
  /** What else is kept of each session. */
  readonly texts: readonly Pick<ReviewStorage, 'remove'>[];
  /** The sessions that there are, most recently used first. */
  readonly sessions: () => Iterable<Pick<SessionRecord, 'key'>>;
  /** Bytes that all states may take. */
  readonly maxBytes: () => number;
  readonly log: Log;
}

export class KeptStates implements Disposable {
  readonly #options: KeptStatesOptions;
  readonly #abort = new AbortController();
  #collected = Number.NEGATIVE_INFINITY;

  constructor(options: KeptStatesOptions) {
    this.#options = options;
  }

  /** Sessions were deleted. Never rejects. */
  async forget(keys: readonly string[]): Promise<void> {
    const { texts, log } = this.#options;
    try {
      const retention = await this.#retention();
      for (const key of keys) {
        await retention.release(key);
        for (const text of texts) await text.remove(key);
      }
    } catch (error) {
      log.warn(`changes of deleted sessions: ${messageOf(error)}`);
    }
  }

  /** Makes the stores small where that is due: nothing else is to be done. Never rejects. */
  async collect(): Promise<void> {
    if (performance.now() - this.#collected < COLLECT_EVERY_MS) return;
    this.#collected = performance.now();
    const { sessions, maxBytes } = this.#options;
    const keys = Array.from(sessions(), ({ key }) => key);
    await (await this.#retention()).collect(keys, maxBytes(), this.#abort.signal);
  }

  dispose(): void {
    this.#abort.abort();
  }

  async #retention(): Promise<ReturnType<typeof openStateRetention>> {
    const { storage, environment, log } = this.#options;
    return openStateRetention({ storage, env: await environment(), log });
  }
}
