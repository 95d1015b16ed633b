// Releases what was recorded of sessions that are deleted, and bounds what all sessions keep of
// their folders.
import type { Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { openStateRetention } from '../../changes/stateRetention';
import type { ReviewStorage } from '../../client/changes/changeServices';
import type { SessionRecord } from '../../store/sessions/records';
import { historyLimits } from '../config/settings';

/** Sessions that are read together. */
const PAGE = 500;
/** Between two times that a window makes the stores small, in milliseconds. */
const COLLECT_EVERY_MS = 6 * 60 * 60 * 1000;

export interface KeptStatesOptions {
  /** The folder with the states of all folders. */
  readonly storage: string;
  readonly environment: () => Promise<Record<string, string>>;
  /** What else is kept of each session. */
  readonly texts: readonly Pick<ReviewStorage, 'remove'>[];
  /** A page of the sessions that there are, most recently used first. */
  readonly sessions: (limit: number, before?: SessionRecord) => readonly SessionRecord[];
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
    const keys: string[] = [];
    for (let last: SessionRecord | undefined; ; ) {
      const page = this.#options.sessions(PAGE, last);
      keys.push(...page.map(({ key }) => key));
      last = page.at(-1);
      if (page.length < PAGE) break;
    }
    await (await this.#retention()).collect(keys, historyLimits().maxBytes, this.#abort.signal);
  }

  dispose(): void {
    this.#abort.abort();
  }

  async #retention(): Promise<ReturnType<typeof openStateRetention>> {
    const { storage, environment, log } = this.#options;
    return openStateRetention({ storage, env: await environment(), log });
  }
}
