// Tells the turn engine what an event means for turns.
import type { SessionEvent } from '../../session/events/event';
import { isEnded } from '../../session/model/tools';
import type { TurnFact, UserMessageEvent } from '../turns/turnState';

/**
 * Feeds an event to the engine before it is applied.
 * @returns whether the engine applies it
 */
export function feedEvent(event: SessionEvent, feed: (fact: TurnFact) => unknown): boolean {
  switch (event.type) {
    case 'message':
    case 'message_chunk':
      if (isOfUser(event)) {
        feed({ type: 'message', event });
        return true;
      }
      if (event.role !== 'user') feed({ type: 'update', isOutput: true });
      return false;
    case 'tool_call': {
      const { toolCallId: id, announced: isNew, patch } = event;
      const { status } = patch;
      feed({ type: 'update', isOutput: true });
      if (status || isNew) feed({ type: 'call', id, isOpen: !status || !isEnded(status), isNew });
      return false;
    }
    case 'tool_content':
    case 'plan':
      feed({ type: 'update', isOutput: true });
      return false;
    default:
      return false;
  }
}

/** A message without an id can't be distinguished from a replay. */
function isOfUser(event: Extract<SessionEvent, { type: 'message' | 'message_chunk' }>): event is UserMessageEvent {
  return event.role === 'user' && event.messageId !== undefined;
}
