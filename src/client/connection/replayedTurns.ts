// The turns of a past that an agent repeats, by the rules of the turn engine: which of them the agent
// began by itself, which it says to have ended, and how. Time stands still in a past, so nothing is
// decided by waiting.
import type { StateReport, TurnComplete } from '../../acp/protocol/dialect';
import type { SessionEvent } from '../../session/events/event';
import { hear } from '../prompts/heardEvent';
import { reduce } from '../turns/engine';
import { initialTurns, type TurnEffect, type TurnFact } from '../turns/turnState';

export class ReplayedTurns {
  readonly #apply: (event: SessionEvent) => void;
  #state = initialTurns();
  /** The agent has begun a turn by itself, without output so far. */
  #isOwn = false;
  #hasEnds = false;

  constructor(apply: (event: SessionEvent) => void) {
    this.#apply = apply;
  }

  /** The agent reports ends of turns, and not that of the last one. */
  get isOpen(): boolean {
    const { turn } = this.#state;
    return this.#hasEnds && turn !== undefined && turn.ended === undefined;
  }

  hear(event: SessionEvent): void {
    if ((event.type === 'message' || event.type === 'message_chunk') && event.role === 'user') {
      this.#isOwn = false;
      this.#feed({ type: 'past' });
    } else hear(event, this.#feed);
    if (!this.#isOwn || !this.#state.turn?.hasOutput) return;
    this.#isOwn = false;
    this.#apply({ type: 'replayed_turn' });
  }

  state(report: StateReport): void {
    this.#feed({ type: 'state', report });
  }

  complete(barrier: TurnComplete): void {
    this.#feed({ type: 'complete', barrier });
  }

  readonly #feed = (fact: TurnFact): void => {
    const [state, effects] = reduce(this.#state, { ...fact, at: 0 });
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
  };

  #carryOut(effect: TurnEffect): void {
    if (effect.type !== 'event') return;
    const { event } = effect;
    switch (event.type) {
      case 'turn_started':
        this.#isOwn = event.origin === 'agent';
        return;
      case 'turn_ended':
      case 'turn_reason': {
        const { stopReason, tokens, tokenParts } = event;
        const said = { tokens, tokenParts };
        const barrier = event.type === 'turn_ended' ? event.barrier : undefined;
        this.#hasEnds = true;
        this.#apply({ type: 'replayed_end', stopReason, barrier, ...said });
        return;
      }
      case 'error':
        this.#apply(event);
    }
  }
}
