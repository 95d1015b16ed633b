// Whether a turn that continues on another connection is silent because a tool call runs.
import type { SessionState } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';

/** How many times in a row the same calls may be found running. */
const MAX_LOOKS = 10;

export class RunningCalls {
  /** The calls that ran at the last looks, and how many of these there were. */
  #last = { calls: '', looks: 0 };

  /** Returns whether a tool call of the turn runs, and not for too long. */
  look({ entries }: Readonly<SessionState>, turnId: string): boolean {
    const running = entries.flatMap((entry) =>
      entry.kind === 'tool' && entry.turnId === turnId && !isEnded(entry.status) ? [entry.id] : [],
    );
    const calls = running.join();
    this.#last = { calls, looks: calls === this.#last.calls ? this.#last.looks + 1 : 1 };
    return calls !== '' && this.#last.looks < MAX_LOOKS;
  }
}
