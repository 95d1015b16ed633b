// A message of a distributed session as what it is in a transcript: who said it, what was done for it, how its turn ended.
import { silentLog } from '../base/log';
import type { Message } from '../distributed/model';
import { citationBlock, partBlock } from '../distributed/runParts';
import { RunToEvents } from '../distributed/runToEvents';
import { stopReasonOf } from '../distributed/toMessages';
import type { PastEvent } from '../session/event';

/** Parts of one message that are shown. */
const MAX_PARTS = 5000;

/**
 * The events that show a message. It is shown by the role that it has: other servers record the answers of some agents as the user's.
 * @param id unique in the conversation and the same each time, for the ids of what is made of it
 */
export function pastEvents(message: Message, id: string): readonly PastEvent[] {
  const parts = message.parts.slice(0, MAX_PARTS);
  const left = message.parts.length - parts.length;
  const cut: readonly PastEvent[] = left > 0 ? [note(`${left} more parts of this message are not shown.`)] : [];
  if (message.role === 'user') {
    const content = parts.flatMap((part) => partBlock(part) ?? citationBlock(part) ?? []);
    return [{ type: 'message', role: 'user', messageId: id, content }, ...cut];
  }
  const reason = stopReasonOf(message);
  // The last part says for readers that do not know the reason's field how the turn ended.
  const shown = reason === undefined || left > 0 ? parts : parts.slice(0, -1);
  const reader = new RunToEvents(id, silentLog);
  const begun = reader.apply({ type: 'message.created', message: { ...message, parts: [] } });
  const said = reader.apply({ type: 'message.completed', message: { ...message, parts: shown } });
  const events = [...begun, ...said].flatMap((event): PastEvent[] => {
    if (event.type === 'message_chunk') return [event];
    // Nobody works on it any more, whatever was known of its result.
    if (event.type === 'tool_call') return [{ ...event, patch: { status: 'completed', ...ended(event.patch) } }];
    return [];
  });
  const end = reason === undefined || reason === 'end_turn' ? [] : [note(endOf(reason))];
  return [...events, ...cut, ...end];
}

function ended<T extends { readonly status?: unknown }>({ status: _status, ...rest }: T): Omit<T, 'status'> {
  return rest;
}

function note(title: string): PastEvent {
  return { type: 'notice', severity: 'info', title, own: true };
}

function endOf(reason: string): string {
  if (reason === 'cancelled') return 'The turn was cancelled.';
  return `The turn ended early (${/^[a-z_]{1,40}$/.test(reason) ? reason : 'unknown'}).`;
}
