// Lets the queues of sessions go on whose agents run without a window (`parley.queue.inBackground`):
// when such an agent is done, its next message is sent from this window, whatever its folder.
import type { Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { Conversation } from '../../client/conversation/conversation';
import { sendNext } from '../../client/conversation/sendInBackground';
import { backgroundStateOf, type RunningAgents } from './runningAgents';

const MAX_TRIED = 1000;

export interface BackgroundQueueOptions {
  readonly running: Pick<RunningAgents, 'background' | 'onDidLook'>;
  readonly isOn: () => boolean;
  /** The id of the next stored message of a session; undefined if there is none or it waits. */
  readonly nextOf: (session: string) => string | undefined;
  /** Opens a session only to send; undefined if that is not possible here. */
  readonly open: (session: string) => Conversation | undefined;
  readonly release: (session: string) => void;
  readonly log: Log;
}

export class BackgroundQueue implements Disposable {
  readonly #options: BackgroundQueueOptions;
  readonly #watching: Disposable;
  readonly #abort = new AbortController();
  readonly #tried = new Set<string>();
  #work: Promise<void> | undefined;

  constructor(options: BackgroundQueueOptions) {
    this.#options = options;
    this.#watching = options.running.onDidLook(() => void this.look());
  }

  /** Sends what can be sent now, one session after another. Never rejects. */
  look(): Promise<void> {
    this.#work ??= this.#look().finally(() => {
      this.#work = undefined;
    });
    return this.#work;
  }

  dispose(): void {
    this.#watching.dispose();
    this.#abort.abort();
  }

  async #look(): Promise<void> {
    const { running, isOn, log } = this.#options;
    for (const found of running.background) {
      if (this.#abort.signal.aborted || !isOn()) return;
      const { session } = found.about;
      if (found.kind !== 'alive' || backgroundStateOf(found) !== 'ready') continue;
      try {
        await this.#send(session);
      } catch (error) {
        log.warn(`session ${session}: its queue does not go on: ${messageOf(error)}`);
      }
    }
  }

  async #send(session: string): Promise<void> {
    const { nextOf, open, release, log } = this.#options;
    const next = nextOf(session);
    const tried = `${session} ${next}`;
    if (next === undefined || this.#tried.has(tried)) return;
    const conversation = open(session);
    if (!conversation) return;
    this.#tried.add(tried);
    const [oldest] = this.#tried;
    if (this.#tried.size > MAX_TRIED && oldest !== undefined) this.#tried.delete(oldest);
    try {
      if (await sendNext(conversation, this.#abort.signal)) log.info(`session ${session}: its next message was sent`);
    } finally {
      release(session);
    }
  }
}
