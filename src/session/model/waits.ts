// Measures how long turns and tool calls waited for the user, which does not count as the agent's
// time.
import type { ModelContext } from './context';
import type { Turn } from './state';

const MAX_WAITS = 500;

interface Question {
  readonly at: number;
  readonly toolCallId?: string;
}

/**
 * Call before a question is added to the state.
 * @param at in ms since 1970
 */
export function beginWait(context: ModelContext, at: number): void {
  if (isAsked(context)) return;
  context.askedSince = at;
}

/**
 * Call after a question was removed from the state.
 * @param at in ms since 1970
 */
export function endWait(context: ModelContext, { at: asked, toolCallId }: Question, at: number): void {
  const entry = toolCallId === undefined ? undefined : context.state.entries[context.tools.get(toolCallId) ?? -1];
  if (entry?.kind === 'tool') {
    entry.waitedMs = (entry.waitedMs ?? 0) + Math.max(0, at - asked);
    context.note((changes) => changes.entry(entry.index));
  }
  if (isAsked(context)) return;
  noteTurnWait(context, at);
  context.askedSince = undefined;
}

/**
 * Adds the waiting time so far to the running turn.
 * @param at in ms since 1970
 */
export function noteTurnWait(context: ModelContext, at: number): void {
  const { askedSince, state } = context;
  if (askedSince === undefined || !state.turn) return;
  const from = Math.max(askedSince, state.turn.startedAt);
  state.turn.waitedMs = (state.turn.waitedMs ?? 0) + Math.max(0, at - from);
  if (at > from) noteWait(state.turn, from, at);
  context.askedSince = at;
}

function noteWait(turn: Turn, from: number, until: number): void {
  turn.waits ??= [];
  const last = turn.waits.at(-1);
  if (last && from <= last.until) last.until = Math.max(last.until, until);
  else turn.waits.push({ from, until });
  if (turn.waits.length > MAX_WAITS) turn.waits.shift();
}

function isAsked({ state }: ModelContext): boolean {
  return state.permissions.size > 0 || state.elicitations.size > 0;
}
