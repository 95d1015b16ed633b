// How long a turn and its tool calls waited for the user: their times are not the agent's alone.
import type { ModelContext } from './context';

/** A question of the agent: when it was asked, and for which tool call. */
interface Question {
  readonly at: number;
  readonly toolCallId?: string;
}

/** A question is about to be shown. To be called before it stands in the state. @param at ms since 1970 */
export function waitBegins(context: ModelContext, at: number): void {
  if (isAsked(context)) return;
  context.askedSince = at;
}

/** A question was closed. To be called after it has left the state. @param at ms since 1970 */
export function waitEnds(context: ModelContext, { at: asked, toolCallId }: Question, at: number): void {
  const entry = toolCallId === undefined ? undefined : context.state.entries[context.tools.get(toolCallId) ?? -1];
  if (entry?.kind === 'tool') {
    entry.waitedMs = (entry.waitedMs ?? 0) + Math.max(0, at - asked);
    context.note((changes) => changes.entry(entry.index));
  }
  if (isAsked(context)) return;
  noteTurnWait(context, at);
  context.askedSince = undefined;
}

/** The running turn has waited until now; what is still open is none of its time any more. @param at ms since 1970 */
export function noteTurnWait(context: ModelContext, at: number): void {
  const { askedSince, state } = context;
  if (askedSince === undefined || !state.turn) return;
  state.turn.waitedMs = (state.turn.waitedMs ?? 0) + Math.max(0, at - Math.max(askedSince, state.turn.startedAt));
  context.askedSince = at;
}

function isAsked({ state }: ModelContext): boolean {
  return state.permissions.size > 0 || state.elicitations.size > 0;
}
