// The state and effects that one step of the turn engine works on.
import type { SessionEvent } from '../../session/events/event';
import type { OpenTurn, Prompt, TurnEffect, TurnMark, TurnState } from './turnState';

/** The newest ids that are remembered to detect repetitions. */
export const MAX_IDS = 200;

export class TurnDraft {
  /** A mutable copy of the turn and prompts; lists are replaced. */
  readonly state: { -readonly [Key in keyof TurnState]: TurnState[Key] };
  readonly effects: TurnEffect[] = [];
  protected readonly log = {
    info: (text: string) => void this.effects.push({ type: 'log', level: 'info', text }),
    warn: (text: string) => void this.effects.push({ type: 'log', level: 'warn', text }),
  };
  /** Time of the input, ms since 1970. */
  protected at = 0;

  constructor(state: TurnState) {
    const prompts = state.prompts.map((prompt) => ({ ...prompt }));
    this.state = { ...state, prompts, ...(state.turn && { turn: { ...state.turn } }) };
  }

  protected start(origin: 'user' | 'agent', endsBy: OpenTurn['endsBy'], promised: boolean): OpenTurn {
    const id = `t${++this.state.turns}`;
    const turn = { id, endsBy, promised, busySeen: false, barrierSeen: false, cancelRequested: false };
    this.state.turn = turn;
    this.event({ type: 'turn_started', turnId: id, origin, at: this.at });
    return turn;
  }

  protected setState(state: string): void {
    if (this.state.agentState === state) return;
    this.state.agentState = state;
    this.event({ type: 'agent_state', state });
  }

  protected rememberUserId(id: string): void {
    if (!this.state.userIds.includes(id)) this.state.userIds = [...this.state.userIds, id].slice(-MAX_IDS);
  }

  protected find(handle: string): Prompt | undefined {
    return this.state.prompts.find((prompt) => prompt.handle === handle);
  }

  protected promptsInTurn(): Prompt[] {
    return this.state.prompts.filter(({ inTurn }) => inTurn);
  }

  protected requestIds(): string[] {
    return this.promptsInTurn().flatMap(({ requestId }) => (requestId === undefined ? [] : [requestId]));
  }

  protected event(event: SessionEvent): void {
    this.effects.push({ type: 'event', event });
  }

  protected markBarrier(requestId: string | undefined, note?: TurnMark['note']): void {
    const prompt = this.state.prompts.find((candidate) => requestId !== undefined && candidate.requestId === requestId);
    this.mark('barrier', prompt, note, requestId);
  }

  protected markAnswer(kind: 'receipt' | 'answer', handle: string): void {
    const prompt = this.find(handle);
    this.mark(kind, prompt, prompt?.awaited ? undefined : 'late', prompt?.requestId, handle);
  }

  protected mark(
    kind: TurnMark['kind'],
    prompt?: Prompt,
    note?: TurnMark['note'],
    requestId = prompt?.requestId,
    handle = prompt?.handle,
  ): void {
    // A late answer and a waiting prompt are not part of an open turn.
    const turnId = note === 'late' || prompt?.inTurn === false ? undefined : this.state.turn?.id;
    this.effects.push({ type: 'mark', mark: { kind, turnId, handle, requestId, note } });
  }
}
