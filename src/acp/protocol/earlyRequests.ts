// Requests of the agent for sessions that the client does not know yet: agents send them before the
// response that names the session. They wait until the request that opens a session has ended, in
// order and bounded; whoever asked then looks again whether the session is known (protocol.md 5.13).
import { Deferred } from '../../base/deferred';
import { roughSize } from '../../base/text';

/** Bounds, in requests and characters of JSON. */
const MAX_REQUESTS = 100;
const MAX_CHARS = 4 * 1024 * 1024;

export class EarlyRequests {
  #openings = 0;
  #waiting = new Deferred<void>();
  #requests = 0;
  #chars = 0;

  async during<T>(open: () => Promise<T>): Promise<T> {
    this.#openings++;
    try {
      return await open();
    } finally {
      this.#openings--;
      if (this.#openings === 0) this.#release();
    }
  }

  /** Resolves when no session is being opened. */
  async untilOpened(params: unknown): Promise<void> {
    const chars = roughSize(params, MAX_CHARS);
    if (this.#openings === 0 || this.#requests >= MAX_REQUESTS || this.#chars + chars > MAX_CHARS) return;
    this.#requests++;
    this.#chars += chars;
    await this.#waiting.promise;
  }

  #release(): void {
    this.#waiting.resolve();
    this.#waiting = new Deferred();
    this.#requests = 0;
    this.#chars = 0;
  }
}
