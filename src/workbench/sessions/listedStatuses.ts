// Asks an agent for the status of listed sessions: a few at a time, only likely rows.

import type { StatusAnswer } from '../../acp/proposals/sessionStatus';
import { Configured } from '../../base/disposable';

/** Maximum sessions to ask about unless the user focuses them. */
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
  readonly #known = new Map<string, ListedStatus>();
  readonly #asked = new Set<string>();
  #waiting: string[] = [];
  #asking = 0;
  /** The agent does not support the request, or does not answer. */
  #isOver = false;

  of(sessionId: string): ListedStatus | undefined {
    return this.#known.get(sessionId);
  }

  listed(sessionIds: readonly string[]): void {
    const room = MAX_ASKED - this.#asked.size - this.#waiting.length;
    const fresh = sessionIds.filter((id) => !this.#asked.has(id) && !this.#waiting.includes(id));
    this.#waiting.push(...fresh.slice(0, Math.max(0, room)));
    this.#askOn();
  }

  lookedAt(sessionId: string): void {
    if (this.#asked.has(sessionId)) return;
    this.#waiting = [sessionId, ...this.#waiting.filter((id) => id !== sessionId)];
    this.#askOn();
  }

  #askOn(): void {
    while (this.#asking < AT_ONCE && !this.#isOver && !this.options.signal.aborted) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#asked.add(next);
      void this.#ask(next);
    }
  }

  async #ask(sessionId: string): Promise<void> {
    const { ask, signal, onChange } = this.options;
    this.#asking++;
    const answer = await ask(sessionId, signal).catch((): StatusAnswer => 'unresponsive');
    this.#asking--;
    if (signal.aborted) return;
    if (answer === 'unsupported' || answer === 'unresponsive') this.#isOver = true;
    else if (answer !== 'failed') {
      // An agent can open any session that it lists, whether or not it is loaded.
      this.#known.set(sessionId, answer === 'live' ? 'live' : 'saved');
      onChange();
    }
    this.#askOn();
  }
}
