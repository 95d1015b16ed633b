// A connection that was lost in a recording: its turn is over, or continues over the next one if the
// client asks the agent about it. As live, see client/conversation/connectionEvents.ts.
import { isIdle } from '../../acp/proposals/promptLifecycle';
import type { SessionStatus } from '../../acp/proposals/sessionStatus';
import type { AgentFeatures } from '../../acp/protocol/dialect';
import type { SessionView } from '../../session/model/model';
import type { Entry } from '../../session/model/state';
import { resolveDoubtfulPrompts } from '../../session/reconcile/doubtfulPrompts';
import { canReopen } from '../connection/sessionOpenStrategy';
import { RunningCalls, unsaidEnd } from '../conversation/connectionEvents';
import type { KeptItem } from '../conversation/persistence';
import { unansweredPrompt } from '../conversation/restore';
import type { TurnDriver } from '../prompts/turnDriver';
import type { Subagents } from '../requests/subagents';
import { mayBeCut } from '../turns/engine';

export class RecordedLoss {
  readonly #turns: TurnDriver;
  readonly #model: SessionView;
  readonly #subagents: Pick<Subagents, 'ended' | 'resume'>;
  /** Nothing shows yet whether the turn is over. */
  #isUndecided = false;
  /** The prompt of the turn that waits, if nothing shows that the agent has it. */
  #inDoubt: KeptItem | undefined;
  #hasRepeated = false;
  #isShown = false;
  /** The session is open again. */
  #isOpen = false;
  readonly #running = new RunningCalls();

  /** @param subagents that run on the connection */
  constructor(turns: TurnDriver, model: SessionView, subagents: Pick<Subagents, 'ended' | 'resume'>) {
    this.#turns = turns;
    this.#model = model;
    this.#subagents = subagents;
  }

  /** The connection is lost. @param features of the agent */
  begin(features: AgentFeatures): void {
    this.#isUndecided = features.status !== undefined && canReopen(features) && mayBeCut(this.#turns.state);
    if (!this.#isUndecided) this.over();
  }

  /**
   * A client that wants to know about its turn asks before it opens the session again.
   * @param method of its next request for a session
   */
  decide(method: string): void {
    if (!this.#isUndecided) return;
    this.#isUndecided = false;
    if (method !== 'session/status') {
      this.over();
      return;
    }
    this.#inDoubt = unansweredPrompt(this.#model.state);
    this.#hasRepeated = false;
    this.#isShown = false;
    this.#isOpen = false;
    this.#turns.feed({ type: 'cut' });
  }

  /** A turn waits to be asked about. */
  get isCut(): boolean {
    return this.#turns.state.cut !== undefined;
  }

  /** The agent repeats the session: what it shows has arrived. */
  repeated(repeated: readonly Entry[]): void {
    this.#hasRepeated = true;
    if (!this.#inDoubt) return;
    const waiting = { items: [this.#inDoubt], remove: () => undefined };
    this.#isShown ||= resolveDoubtfulPrompts(waiting, this.#model.state.entries, repeated).length > 0;
  }

  /** The session is open again. */
  opened(): void {
    this.#isOpen = true;
    this.#turns.feed({ type: 'asking' });
  }

  /** The agent was asked about the session. */
  asked(status: SessionStatus): void {
    if (this.isCut && this.#isOpen) {
      const effects = this.#turns.feed({ type: 'asked', status, hasArrived: this.#hasArrived });
      if (effects.some(({ type }) => type === 'lost')) this.over();
      else this.#subagents.resume(this.#model.state.entries);
    } else if (this.isCut) {
      if (status.answer !== 'live') this.over();
    } else if (this.#turns.state.turn?.isRejoined) this.#askedAgain(status);
  }

  /** The turn is over with its connection. */
  over(): void {
    this.#turns.feed({ type: 'exited', note: 'agent-restarted', interrupted: true });
    this.#subagents.ended();
  }

  /** The agent was silent in a turn that it continues. */
  #askedAgain({ answer, state }: SessionStatus): void {
    const { turn } = this.#model.state;
    const goesOn = state ? !isIdle(state) : answer === 'live' && turn && this.#running.look(this.#model.state, turn.id);
    if (!goesOn) this.#turns.feed({ type: 'no_end', note: unsaidEnd() });
  }

  get #hasArrived(): boolean | undefined {
    if (this.#isShown || !this.#inDoubt || !unansweredPrompt(this.#model.state)) return true;
    return this.#hasRepeated ? false : undefined;
  }
}
