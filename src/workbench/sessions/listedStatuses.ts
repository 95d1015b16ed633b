// Asks an agent for the status of listed sessions: a few at a time, only likely rows.

import type { StatusAnswer } from '../../acp/proposals/sessionStatus';
import { Configured } from '../../base/disposable';

const MAX_ASKED = 50;
const AT_ONCE = 4;

/** `live`: loaded in the agent. `saved`: can be opened again. */
export type ListedStatus = 'live' | 'saved';

interface ListedStatusOptions {
  readonly ask: (sessionId: string, signal: AbortSignal) => Promise<StatusAnswer>;
  readonly signal: AbortSignal;
  readonly onChange: () => void;
}

export class ListedStatuses extends Configured<ListedStatusOptions> {
  readonly #statuses = new Map<string, ListedStatus>();
  readonly #asked = new Set<string>();
  #queue: string[] = [];
  #running = 0;
  /** The agent does not support the request, or does not answer. */
  #isUnavailable = false;

  of(sessionId: string): ListedStatus | undefined {
    return this.#statuses.get(sessionId);
  }

  listed(sessionIds: readonly string[]): void {
    const room = MAX_ASKED - this.#asked.size - this.#queue.length;
    const fresh = sessionIds.filter((id) => !this.#asked.has(id) && !this.#queue.includes(id));
    this.#queue.push(...fresh.slice(0, Math.max(0, room)));
    this.#askNext();
  }

  focused(sessionId: string): void {
    if (this.#asked.has(sessionId)) return;
    this.#queue = [sessionId, ...this.#queue.filter((id) => id !== sessionId)];
    this.#askNext();
  }

  #askNext(): void {
    while (this.#running < AT_ONCE && !this.#isUnavailable && !this.options.signal.aborted) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#asked.add(next);
      void this.#ask(next);
    }
  }

  async #ask(sessionId: string): Promise<void> {
    const { ask, signal, onChange } = this.options;
    this.#running++;
    const answer = await ask(sessionId, signal).catch((): StatusAnswer => 'unresponsive');
    this.#running--;
    if (signal.aborted) return;
    if (answer === 'unsupported' || answer === 'unresponsive') this.#isUnavailable = true;
    else if (answer !== 'failed') {
      // An agent can open any session that it lists, whether or not it is loaded.
      this.#statuses.set(sessionId, answer === 'live' ? 'live' : 'saved');
      onChange();
    }
    this.#askNext();
  }
}
