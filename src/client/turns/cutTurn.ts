// A turn whose connection was lost in the middle of it: what is said of it until the agent was asked,
// and what becomes of the turn then. The agent's own word counts, the newest first.
import { isIdle } from '../../acp/proposals/promptLifecycle';
import type { SessionStatus } from '../../acp/proposals/sessionStatus';
import type { StateReport, TurnComplete } from '../../acp/protocol/dialect';

export type TurnFate =
  /** The agent works on it, and will say how it ends. */
  | { readonly kind: 'runs'; readonly report: StateReport }
  | { readonly kind: 'ended'; readonly report: StateReport }
  | { readonly kind: 'complete'; readonly barrier: TurnComplete }
  /** The agent has the session, and does not say what it does in it. */
  | { readonly kind: 'unsaid' }
  /** The agent does not have the turn, or cannot be asked. */
  | { readonly kind: 'lost' };

export class CutTurn {
  /** The last state before the question: it may be that of an earlier turn, which was repeated. */
  #before: StateReport | undefined;
  #state: StateReport | undefined;
  #complete: TurnComplete | undefined;

  noteState(report: StateReport): void {
    this.#state = report;
  }

  /** @param barrier that is of no other turn */
  noteComplete(barrier: TurnComplete): void {
    this.#complete = barrier;
  }

  /** The agent is asked now. */
  asking(): void {
    this.#before = this.#state ?? this.#before;
    this.#state = undefined;
  }

  /**
   * Returns what becomes of the turn.
   * @param hasArrived whether the agent has its prompts; undefined: that is not known. An agent that
   * rests and may not have them has not ended the turn
   */
  fate({ answer, state }: SessionStatus, hasArrived: boolean | undefined): TurnFate {
    const report = this.#state ?? state ?? this.#before;
    if (this.#complete && (hasArrived === true || this.#complete.promptRequestId !== undefined))
      return { kind: 'complete', barrier: this.#complete };
    if (answer !== 'live') return { kind: 'lost' };
    if (report && !isIdle(report)) return { kind: 'runs', report };
    if (report) return hasArrived === true ? { kind: 'ended', report } : { kind: 'lost' };
    return hasArrived === false ? { kind: 'lost' } : { kind: 'unsaid' };
  }
}
