// Watches for messages that wait for a storage server, so that the user is told each reason once,
// and about messages that have waited long.

import type { Disposable } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { isRefusal, type QueueState, type WriteQueue } from '../../distributed/stores/writeQueue';

export interface WaitingWatchOptions {
  readonly queue: Pick<WriteQueue, 'state' | 'onDidChange'>;
  /** Runs something later. */
  readonly schedule: (run: () => void, ms: number) => Disposable;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** What waits; undefined where nothing does, or only since just now. Called with each change. */
  readonly show: (state: QueueState | undefined) => void;
  /** Called once per error code until the queue is empty. */
  readonly tell: (problem: ParleyError, waiting: number) => void;
}

/** What waits for less than this without a reason is on its way. */
const SHOWN_AFTER_MS = 2_000;
/** A server that cannot be reached for this long is told of. */
const LATE_MS = 60_000;
const silence = (): ParleyError =>
  new ParleyError('store-down', localizable("The storage server isn't responding."), {
    hint: localizable('Messages are kept on this machine and uploaded when the server is back.'),
  });

export class WaitingWatch implements Disposable {
  readonly #options: WaitingWatchOptions;
  readonly #listening: Disposable;
  readonly #told = new Set<string>();
  #next: Disposable | undefined;

  constructor(options: WaitingWatchOptions) {
    this.#options = options;
    this.#listening = options.queue.onDidChange(() => this.#look());
    this.#look();
  }

  dispose(): void {
    this.#listening.dispose();
    this.#next?.dispose();
    this.#options.show(undefined);
  }

  /** Tells of a reason that was met otherwise, unless it is known. */
  report(problem: ParleyError): void {
    if (this.#told.has(problem.code)) return;
    this.#told.add(problem.code);
    this.#options.tell(problem, this.#options.queue.state.waiting);
  }

  #look(): void {
    const { queue, now, schedule, show } = this.#options;
    const { state } = queue;
    this.#next?.dispose();
    if (state.since === undefined) {
      this.#told.clear();
      show(undefined);
      return;
    }
    const { problem } = state;
    const age = now() - state.since;
    show(problem || age >= SHOWN_AFTER_MS ? state : undefined);
    const next = [SHOWN_AFTER_MS, LATE_MS].find((ms) => age < ms);
    if (next !== undefined) this.#next = schedule(() => this.#look(), next - age);
    if (problem && isRefusal(problem)) this.report(problem);
    else if (age >= LATE_MS) this.report(problem ?? silence());
  }
}
