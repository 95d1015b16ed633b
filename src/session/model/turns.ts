// Turns: start, end, cancellation and replay. When a session is reopened, each user message starts
// a turn, as it did originally. A replayed turn has an end if the agent says how it ended; its
// times are unknown.
import type { TurnTokens } from '../events/content';
import type { EventOf } from '../events/event';
import type { ModelContext } from './context';
import type { MessageEntry, Turn } from './state';
import { cancelOpenTools } from './tools';
import { noteTurnWait } from './waits';

export function startTurn(context: ModelContext, event: EventOf<'turn_started'>): void {
  const { state } = context;
  if (context.turnsById.has(event.turnId)) return;
  const turn: Turn = {
    id: event.turnId,
    number: state.turns.length + 1,
    origin: event.origin,
    startedAt: event.at,
    tools: 0,
    files: new Set(),
  };
  state.turns.push(turn);
  context.turnsById.set(turn.id, turn);
  // Calls left open outside of a turn, by a replay or by a question before the first turn.
  cancelOpenTools(context, event.at);
  state.turn = turn;
  state.suggestion = undefined;
  state.replaying = false;
  adoptMessage(context, turn);
}

/** Marks a user message that this client did not send. */
export function markAsElsewhere({ state, note }: ModelContext, message: MessageEntry): void {
  const { turn } = state;
  if (!turn || message.turnId !== turn.id) return;
  if (follows(state, message)) {
    // A message without an id may be a rephrased prompt.
    if (message.messageId !== undefined) message.elsewhere = true;
  } else if (turn.origin === 'agent' && turn.firstOutputAt === undefined) {
    message.elsewhere = true;
    turn.elsewhere = true;
    note((changes) => changes.part('turn'));
  }
}

function follows({ entries }: ModelContext['state'], { index, turnId }: MessageEntry): boolean {
  for (let before = index - 1; entries[before]?.turnId === turnId; before--) {
    const entry = entries[before];
    if (entry?.kind === 'user' && (entry.promptId !== undefined || entry.elsewhere)) return true;
  }
  return false;
}

function adoptMessage(context: ModelContext, turn: Turn): void {
  const { entries } = context.state;
  const last = entries.at(-1);
  if (turn.origin !== 'agent' || last?.kind !== 'user' || last.promptId !== undefined) return;
  if ((last.turnId !== undefined && !last.late) || last.index < context.renewedAt) return;
  const { late: _late, ...message } = last;
  entries[last.index] = { ...message, turnId: turn.id, elsewhere: true };
  turn.elsewhere = true;
  context.note((changes) => changes.entry(last.index));
}

export function endTurn(context: ModelContext, event: EventOf<'turn_ended'>, at: number): void {
  const { state } = context;
  const turn = context.turnsById.get(event.turnId);
  if (!turn || turn.endedAt !== undefined) return; // a turn ends once
  cancelOpenTools(context, at);
  if (state.turn === turn) noteTurnWait(context, event.at);
  turn.endedAt = event.at;
  turn.stopReason = event.stopReason;
  if (event.barrier) turn.barrier = event.barrier;
  if (event.note !== undefined) turn.note = event.note;
  if (event.interrupted) turn.interrupted = true;
  setTokens(turn, event);
  context.echo = undefined;
  if (state.turn === turn) state.turn = undefined;
  context.push(({ late: _late, ...base }) => ({ ...base, kind: 'turn_end', turnId: turn.id }), at);
  noteMessages(context, turn);
}

function noteMessages({ state: { entries }, note }: ModelContext, turn: Turn): void {
  for (let index = entries.length - 2; index >= 0; index--) {
    const entry = entries[index];
    if (entry?.kind === 'turn_end') return;
    if (entry?.kind === 'user' && entry.turnId === turn.id) note((changes) => changes.entry(index));
  }
}

function setTokens(turn: Turn, { tokens, tokenParts }: TurnTokens): void {
  if (tokens !== undefined) turn.tokens = tokens;
  if (tokenParts) turn.tokenParts = tokenParts;
}

export function fixReason(context: ModelContext, event: EventOf<'turn_reason'>): void {
  const turn = context.turnsById.get(event.turnId);
  if (!turn) return;
  turn.stopReason = event.stopReason;
  setTokens(turn, event);
  noteTurnEnd(context, turn);
}

export function noteChanges(context: ModelContext, event: EventOf<'turn_changes'>): void {
  const turn = context.turnsById.get(event.turnId);
  if (!turn) return;
  const { type: _type, turnId: _turnId, ...changes } = event;
  turn.changes = changes;
  noteTurn(context, turn);
  if (changes.folders.length > 0) updateRestorable(context, turn);
}

/**
 * Updates prompts whose files can be restored now: those since the last turn that changed files.
 */
function updateRestorable({ state: { entries }, turnsById, note }: ModelContext, turn: Turn): void {
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (entry?.kind === 'user') note((changes) => changes.entry(index));
    if (entry?.kind !== 'turn_end' || entry.turnId === turn.id) continue;
    if ((turnsById.get(entry.turnId)?.changes?.folders.length ?? 0) > 0) return;
  }
}

export function noteTurn(context: ModelContext, turn: Turn): void {
  context.note((changes) => changes.part('turn'));
  if (turn.endedAt !== undefined) noteTurnEnd(context, turn);
}

function noteTurnEnd(context: ModelContext, turn: Turn): void {
  const { entries } = context.state;
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (entry?.kind === 'turn_end' && entry.turnId === turn.id) {
      context.note((changes) => changes.entry(index));
      return;
    }
  }
}

export function requestCancel(context: ModelContext, turnId: string, at: number): boolean {
  const turn = context.turnsById.get(turnId);
  if (!turn || turn.endedAt !== undefined) return false;
  turn.cancelRequested = true;
  cancelOpenTools(context, at);
  return true;
}

/**
 * Starts a replayed turn.
 * @param at of the replay, in ms since 1970
 */
export function beginReplayedTurn(context: ModelContext, at: number, origin: Turn['origin'] = 'user'): void {
  const { state } = context;
  if (!state.replaying || state.turn) return;
  cancelOpenTools(context, at);
  const number = state.turns.length + 1;
  const turn: Turn = {
    id: `r${number}`,
    number,
    origin,
    startedAt: at,
    replayed: true,
    tools: 0,
    files: new Set(),
  };
  state.turns.push(turn);
  context.turnsById.set(turn.id, turn);
  context.note((changes) => changes.part('turn'));
}

export function endReplayedTurn(
  context: ModelContext,
  { stopReason, barrier = 'state', tokens, tokenParts, endedAt }: EventOf<'replayed_end'>,
  at: number,
): void {
  const { state } = context;
  const turn = state.replaying && !state.turn ? state.turns.at(-1) : undefined;
  if (!turn?.replayed) return;
  const fields = {
    turnId: turn.id,
    stopReason,
    tokens,
    tokenParts,
  };
  if (turn.endedAt === undefined)
    endTurn(context, { type: 'turn_ended', ...fields, barrier, at: endedAt ?? turn.startedAt }, at);
  else fixReason(context, { type: 'turn_reason', ...fields });
}
