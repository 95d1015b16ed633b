// Lets the agents of one conversation go, one after the other: the next one starts when the last is
// gone.
import { required } from '../../acp/protocol/dialect';
import { Deferred } from '../../base/deferred';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { withTimeout } from '../../base/within';
import type { AgentLink } from '../ports/agentLink';

/** Time for `session/close`, in milliseconds. */
const CLOSE_MS = 1500;

export class Goodbyes {
  readonly #log: Log;
  #ending: Promise<void> = Promise.resolve();

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Ends an agent; resolves when it and those before it are gone. Never rejects.
   * @param closing the session to close
   */
  say(link: AgentLink | undefined, closing?: string): Promise<void> {
    const before = this.#ending;
    this.#ending = this.#end(link, closing)
      .catch((error: unknown) => this.#log.warn(`ending the agent: ${messageOf(error)}`))
      .then(() => before);
    return this.#ending;
  }

  /** Resolves when all are gone, or with false when the signal is aborted. */
  async untilOver(signal: AbortSignal): Promise<boolean> {
    const stopped = new Deferred<void>();
    const stop = (): void => stopped.resolve();
    signal.addEventListener('abort', stop, { once: true });
    await Promise.race([this.#ending, stopped.promise]);
    signal.removeEventListener('abort', stop);
    return !signal.aborted;
  }

  async #end(link: AgentLink | undefined, closing: string | undefined): Promise<void> {
    if (closing !== undefined && link?.isAlive && link.description.features.close) {
      await withTimeout(CLOSE_MS, (signal) => required(link.dialect.sessions).close(closing, signal)).catch(
        (error: unknown) => this.#log.info(`session/close: ${messageOf(error)}`),
      );
    }
    await link?.close();
  }
}
