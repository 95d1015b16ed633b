// The past of a session that was opened again: each message of the user begins a turn, as it did when it was sent. Of its end nothing is known, so none is made up.
import type { ModelContext } from './model';
import type { SessionState, Turn } from './state';
import { cancelOpenTools } from './tools';

/** The turn that what comes now belongs to: the one that runs, or the last one of a replay. */
export function currentTurn(state: Readonly<SessionState>): Turn | undefined {
  return state.turn ?? (state.replaying ? state.turns.at(-1) : undefined);
}

/** Begins a turn of the past, while a session is replayed. To be called where a message of the user begins. @param at ms since 1970, of the replay */
export function beginReplayedTurn(context: ModelContext, at: number): void {
  const { state } = context;
  if (!state.replaying || state.turn) return;
  cancelOpenTools(context, at);
  const number = state.turns.length + 1;
  const turn: Turn = {
    id: `r${number}`,
    number,
    origin: 'user',
    startedAt: at,
    replayed: true,
    tools: 0,
    files: new Set(),
  };
  state.turns.push(turn);
  context.turnsById.set(turn.id, turn);
  context.note((changes) => changes.part('turn'));
}
