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
  #isUndecided = false;
  /** The prompt of the waiting turn, if nothing shows that the agent has it. */
  #inDoubt: KeptItem | undefined;
  #hasRepeated = false;
  #isShown = false;
  #isOpen = false;
  readonly #running = new RunningCalls();

  constructor(turns: TurnDriver, model: SessionView, subagents: Pick<Subagents, 'ended' | 'resume'>) {
    this.#turns = turns;
    this.#model = model;
    this.#subagents = subagents;
  }

  begin(features: AgentFeatures): void {
    this.#isUndecided = features.status !== undefined && canReopen(features) && mayBeCut(this.#turns.state);
    if (!this.#isUndecided) this.over();
  }

  /**
   * A client that keeps its turn asks before it reopens the session.
   * @param method of its next request
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

  get isCut(): boolean {
    return this.#turns.state.cut !== undefined;
  }

  repeated(repeated: readonly Entry[]): void {
    this.#hasRepeated = true;
    if (!this.#inDoubt) return;
    const waiting = { items: [this.#inDoubt], remove: () => undefined };
    this.#isShown ||= resolveDoubtfulPrompts(waiting, this.#model.state.entries, repeated).length > 0;
  }

  opened(): void {
    this.#isOpen = true;
    this.#turns.feed({ type: 'asking' });
  }

  asked(status: SessionStatus): void {
    if (this.isCut && this.#isOpen) {
      const effects = this.#turns.feed({ type: 'asked', status, hasArrived: this.#hasArrived });
      if (effects.some(({ type }) => type === 'lost')) this.over();
      else this.#subagents.resume(this.#model.state.entries);
    } else if (this.isCut) {
      if (status.answer !== 'live') this.over();
    } else if (this.#turns.state.turn?.isRejoined) this.#askedAgain(status);
  }

  over(): void {
    this.#turns.feed({ type: 'exited', note: 'agent-restarted', interrupted: true });
    this.#subagents.ended();
  }

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
