// Converts a message of a distributed session to events of a transcript: who wrote it, what was
// done for it, how its turn ended.
import { silentLog } from '../../base/log';
import type { PastEvent } from '../../session/events/event';
import { type OwnText, ownText } from '../../session/events/ownText';
import { citationBlock, isRemote, partBlock, partGapId, RunToEvents, unloadedPart } from '../ports/agentServers';
import { type Message, type MessagePart, stopReasonOf } from '../ports/messages';

const MAX_PARTS = 5000;
/** Of these, parts that are stored elsewhere and get their own entries. */
const MAX_REMOTE = 100;

/**
 * Converts a message by its role: other servers record some agents' answers as the user's. Remote
 * parts become gaps `<id>.<number>`.
 * @param id unique and stable
 */
export function pastEvents(message: Message, id: string): readonly PastEvent[] {
  const parts = message.parts.slice(0, MAX_PARTS);
  const omitted = message.parts.length - parts.length;
  const cut: readonly PastEvent[] = omitted > 0 ? [note(ownText('parts-not-shown', omitted))] : [];
  const reason = message.role === 'user' ? undefined : stopReasonOf(message);
  // For readers that don't know the reason field, the last part says how the turn ended.
  const shownParts = reason === undefined || omitted > 0 ? parts : parts.slice(0, -1);
  const remote = new Set(remotePartsOf(message));
  const say = message.role === 'user' ? userSays(id) : agentSays(id);
  const events: PastEvent[] = [];
  let run: MessagePart[] = [];
  shownParts.forEach((part, index) => {
    if (!remote.has(index)) {
      run.push(part);
      return;
    }
    events.push(...say(run), unloadedPart(part, partGapId(id, index)));
    run = [];
  });
  const end = reason === undefined || reason === 'end_turn' ? [] : [note(endOf(reason))];
  return [...events, ...say(run), ...cut, ...end];
}

export function remotePartsOf({ parts }: Message): readonly number[] {
  const remote: number[] = [];
  for (let index = 0; index < parts.length && index < MAX_PARTS && remote.length < MAX_REMOTE; index++) {
    const part = parts[index];
    if (part && isRemote(part)) remote.push(index);
  }
  return remote;
}

type Say = (parts: readonly MessagePart[]) => readonly PastEvent[];

function userSays(id: string): Say {
  let count = 0;
  return (parts) => {
    const content = parts.flatMap((part) => partBlock(part) ?? citationBlock(part) ?? []);
    const messageId = count === 0 ? id : `${id}:${count}`;
    if (content.length === 0) return [];
    count += 1;
    return [{ type: 'message', role: 'user', messageId, content }];
  };
}

function agentSays(id: string): Say {
  const reader = new RunToEvents(id, silentLog);
  return (parts) => {
    const message: Message = { role: 'agent', parts: [] };
    const begun = reader.apply({ type: 'message.created', message });
    const events = reader.apply({ type: 'message.completed', message: { ...message, parts } });
    return [...begun, ...events].flatMap((event): PastEvent[] => {
      if (event.type === 'message_chunk') return [event];
      if (event.type === 'tool_call') return [{ ...event, patch: { status: 'completed', ...ended(event.patch) } }];
      return [];
    });
  };
}

function ended<T extends { readonly status?: unknown }>({ status: _status, ...rest }: T): Omit<T, 'status'> {
  return rest;
}

function note(text: OwnText): PastEvent {
  return { type: 'notice', severity: 'info', title: '', said: text, own: true };
}

function endOf(reason: string): OwnText {
  if (reason === 'cancelled') return ownText('turn-cancelled');
  return ownText('turn-ended-early', /^[a-z_]{1,40}$/.test(reason) ? reason : 'unknown');
}
