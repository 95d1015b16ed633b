// Inserts what an agent's replay shows and the transcript lacks where it belongs instead of at the
// end.

import type { RestoredEvent, SessionEvent } from '../events/event';
import { type ModelContext, shiftIndexes } from './context';
import { appendText } from './messages';
import type { Entry } from './state';
import { applyTool, cancelTool } from './tools';

/** Applies `restored`. */
export function applyRestored(
  context: ModelContext,
  { entryId, text, events }: Extract<SessionEvent, { type: 'restored' }>,
  made: Entry | undefined,
  at: number,
): void {
  const { entries } = context.state;
  const anchor = entries.findLast(({ id }) => id === entryId);
  if (!anchor) return;
  if (text !== undefined && (anchor.kind === 'agent' || anchor.kind === 'thought'))
    appendText(context, anchor, text, at);
  if (!made) return;
  let index = anchor.index + 1;
  while (entries[index]?.id.startsWith(`${anchor.id}.`)) index++;
  const { turnId } = anchor;
  const entry: Entry = {
    ...made,
    // Unique, as the number of entries only grows.
    id: `${anchor.id}.${entries.length}`,
    index,
    ...(turnId !== undefined && { turnId }),
    ...(anchor.late && { late: true as const }),
  };
  shiftIndexes(context, index, 1);
  entries.splice(index, 0, entry);
  register(context, entry, events ?? [], at);
  context.note((changes) => (index === entries.length - 1 ? changes.entry(index) : changes.clearedAll()));
}

function register(context: ModelContext, entry: Entry, events: readonly RestoredEvent[], at: number): void {
  if (entry.kind === 'tool') {
    context.tools.set(entry.toolCallId, entry.index);
    for (const event of events) if (event.type === 'tool_call') applyTool(context, { ...event, announced: false }, at);
    const turn = entry.turnId === undefined ? undefined : context.turnsById.get(entry.turnId);
    if (!turn) return;
    // The agent repeats how the call stood in the turn, which has ended since.
    if (turn.endedAt !== undefined) cancelTool(context, entry, at);
    turn.tools++;
    for (const part of entry.content)
      if (part.type === 'diff' && entry.status === 'completed') turn.files.add(part.path);
  } else if (entry.kind === 'plan') context.plans.set(entry.planId, entry.index);
  else if (
    (entry.kind === 'agent' || entry.kind === 'thought' || entry.kind === 'user') &&
    entry.messageId !== undefined
  )
    context.messages.set(`${entry.kind}:${entry.messageId}`, entry.index);
}
