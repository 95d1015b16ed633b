// Converts a transcript to events for another session, which shows the same: each entry with its
// time and turn, and how that turn ended.
import type { SessionEvent, TimedEvent } from '../events/event';
import { eventsOf, terminalsOf } from './entryEvents';
import type { Entry, SessionState, ToolEntry } from './state';
import { isEnded } from './tools';

/** Notice actions that stay valid in another session: links to sessions. */
const SHOW_ACTION = 'show:';

/** @param end entries before this index; absent: all */
export function pastOf(
  { entries, turns, terminals }: Pick<SessionState, 'entries' | 'turns' | 'terminals'>,
  end = entries.length,
): readonly TimedEvent[] {
  const events: TimedEvent[] = [{ at: entries[0]?.at ?? 0, event: { type: 'replay_resumed' } }];
  const turnsById = new Map(turns.map((turn) => [turn.id, turn]));
  const calls = new Map<string, string>();
  let last: string | undefined;
  for (const entry of entries.slice(0, end)) {
    const { at, turnId } = entry;
    const turn = turnId === undefined ? undefined : turnsById.get(turnId);
    if (entry.kind === 'turn_end') {
      const { stopReason, barrier, tokens, tokenParts, endedAt } = turn ?? {};
      if (stopReason !== undefined && turnId === last)
        events.push({ at, event: { type: 'replayed_end', stopReason, barrier, tokens, tokenParts, endedAt } });
      continue;
    }
    if (turn && turnId !== last && !('late' in entry)) {
      last = turnId;
      if (turn.origin === 'agent' && entry.kind !== 'user') events.push({ at, event: { type: 'replayed_turn' } });
    }
    if (entry.kind === 'tool') {
      for (const event of terminalsOf(entry, { terminals })) events.push({ at, event });
      events.push(...callEvents(entry, calls));
    } else for (const event of eventsOfEntry(entry, calls)) events.push({ at, event });
  }
  return [...events, { at: events.at(-1)?.at ?? 0, event: { type: 'replay_ended' } }];
}

/** Agents that number calls per turn or process reuse ids. */
function callEvents(entry: ToolEntry, calls: Map<string, string>): readonly TimedEvent[] {
  const { at, status, endedAt = at, toolCallId: id } = entry;
  const toolCallId = calls.has(id) ? `${id}~${entry.id}` : id;
  const parent = entry.parent && calls.get(entry.parent);
  calls.set(id, toolCallId);
  return eventsOf(entry).flatMap((event): TimedEvent[] => {
    if (event.type !== 'tool_call') return [{ at, event }];
    const call = { ...event, toolCallId, announced: true, patch: { ...event.patch, parent } };
    if (!isEnded(status) || endedAt === at) return [{ at, event: call }];
    return [
      { at, event: { ...call, patch: { ...call.patch, status: 'in_progress' } } },
      { at: endedAt, event: { type: 'tool_call', toolCallId, announced: false, patch: { status } } },
    ];
  });
}

function eventsOfEntry(entry: Exclude<Entry, ToolEntry>, calls: ReadonlyMap<string, string>): readonly SessionEvent[] {
  switch (entry.kind) {
    case 'user':
      // A separate id keeps two consecutive messages apart.
      return [{ type: 'message', role: 'user', messageId: `origin-${entry.id}`, content: entry.content }];
    case 'gap': {
      const { id, text, said } = entry;
      return [{ type: 'gap', gapId: `origin-${id}`, text, said, state: 'final' }];
    }
    case 'plan':
      return [...eventsOf(entry), ...(entry.removed ? [{ type: 'plan_removed', planId: entry.planId } as const] : [])];
    case 'notice': {
      const { action, raw } = entry;
      const shows = raw === undefined && action?.id.startsWith(SHOW_ACTION) ? { action } : {};
      return eventsOf(entry).map((event) => ({ ...event, ...shows }));
    }
    default:
      return eventsOf(entry).map((event) =>
        'parent' in event && event.parent !== undefined ? { ...event, parent: calls.get(event.parent) } : event,
      );
  }
}
