// Releases snapshots of deleted sessions, and limits the total size of snapshots.
import { Configured, type Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { openStateRetention } from '../../changes/stateRetention';
import type { ReviewStorage } from '../../client/changes/changeServices';
import type { SessionRecord } from '../../store/sessions/records';

const COLLECT_EVERY_MS = 6 * 60 * 60 * 1000;

interface KeptStatesOptions {
  readonly storage: string;
  readonly environment: () => Promise<Record<string, string>>;
  readonly texts: readonly Pick<ReviewStorage, 'remove'>[];
  readonly sessions: () => Iterable<Pick<SessionRecord, 'key'>>;
  readonly maxBytes: () => number;
  readonly log: Log;
}

export class KeptStates extends Configured<KeptStatesOptions> implements Disposable {
  readonly #abort = new AbortController();
  #collectedAt = Number.NEGATIVE_INFINITY;

  /** Never rejects. */
  async forget(keys: readonly string[]): Promise<void> {
    const { texts, log } = this.options;
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

  /** Never rejects. */
  async collect(): Promise<void> {
    if (performance.now() - this.#collectedAt < COLLECT_EVERY_MS) return;
    this.#collectedAt = performance.now();
    const { sessions, maxBytes } = this.options;
    const keys = Array.from(sessions(), ({ key }) => key);
    await (await this.#retention()).collect(keys, maxBytes(), this.#abort.signal);
  }

  dispose(): void {
    this.#abort.abort();
  }

  async #retention(): Promise<ReturnType<typeof openStateRetention>> {
    const { storage, environment, log } = this.options;
    return openStateRetention({ storage, env: await environment(), log });
  }
}
