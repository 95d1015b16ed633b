// A run that was under way when the window before ended. What it still says belongs before the next
// prompt: a server that records it later puts it into another version of the session.
import { messageOf } from '../../base/errors';
import { type Log, silentLog } from '../../base/log';
import { pause } from '../model/deadline';
import type { Run } from '../model/model';
import { AgentServerError } from './agentServerError';
import type { CommunicationClient } from './communicationClient';
import { isResting } from './runRecovery';

export interface UnseenRunOptions {
  /** Milliseconds between two looks at it. */
  readonly pollMs: number;
  /** Milliseconds that it is waited for once it was told to stop. */
  readonly stopMs: number;
  readonly onWait: () => void;
  readonly log?: Log;
}

export class UnseenRun {
  readonly id: string | undefined;
  readonly #options: UnseenRunOptions;
  #isAwaited = false;
  #isStopped = false;
  #last: Run | undefined;

  constructor(id: string | undefined, options: UnseenRunOptions) {
    this.id = id;
    this.#options = options;
  }

  /** The run as its server had it last; undefined if that was not asked, or does not know it. */
  get last(): Run | undefined {
    return this.#last;
  }

  /**
   * Waits for the end of the run.
   * @param maxMs absent: as long as it works
   * @returns whether the server has nothing more to say
   */
  async ended(client: CommunicationClient, signal: AbortSignal, maxMs?: number): Promise<boolean> {
    const { pollMs, stopMs, onWait, log = silentLog } = this.#options;
    const { id } = this;
    if (id === undefined) return true;
    const until = performance.now() + (maxMs ?? (this.#isStopped ? stopMs : Number.POSITIVE_INFINITY));
    this.#isAwaited = true;
    try {
      let run = await client.run(id, signal);
      // Its question was not seen, and another message is on its way.
      if (run.status === 'awaiting') run = await client.cancel(id, signal);
      else if (!isResting(run.status) && maxMs === undefined) onWait();
      while (!isResting(run.status)) {
        if (performance.now() > until) return this.#isStopped;
        await pause(pollMs, signal);
        run = await client.run(id, signal);
      }
      this.#last = run;
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      log.info(`Run ${id} of the window before is not followed: ${messageOf(error)}`);
      return !(error instanceof AgentServerError && error.isSilence);
    } finally {
      this.#isAwaited = false;
    }
  }

  /** Tells the server to stop it, where it is waited for. Never rejects. */
  async stop(client: CommunicationClient, signal: AbortSignal): Promise<void> {
    if (!this.#isAwaited || this.id === undefined) return;
    const { log = silentLog } = this.#options;
    this.#isStopped = true;
    await client.cancel(this.id, signal).catch((error: unknown) => {
      log.info(`Run ${this.id} is not stopped: ${messageOf(error)}`);
    });
  }
}
