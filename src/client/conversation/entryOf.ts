// Finds the entry of the transcript that shows an event.
import type { TimedEvent } from '../../session/events/event';
import type { SessionView } from '../../session/model/model';
import type { Entry } from '../../session/model/state';

/**
 * Returns the entry's index: for the start of a turn, that of its first entry; for an event without
 * an entry, that of the last one before it.
 */
export function entryOf(
  model: Pick<SessionView, 'state' | 'toolIndex'>,
  { at, event }: TimedEvent,
): number | undefined {
  if (event.type === 'tool_call') return model.toolIndex(event.toolCallId);
  const { entries } = model.state;
  const first = event.type === 'turn_started' ? entries.findIndex(({ turnId }) => turnId === event.turnId) : -1;
  if (first !== -1) return first;
  const exact = entries.findLastIndex((entry) => entry.at === at && entry.kind === kindOf(event));
  const index = exact === -1 ? entries.findLastIndex((entry) => entry.at <= at) : exact;
  return index === -1 ? undefined : index;
}

function kindOf(event: TimedEvent['event']): Entry['kind'] {
  const isAgent = (event.type === 'message' || event.type === 'message_chunk') && event.role === 'agent';
  return isAgent ? 'agent' : 'user';
}
