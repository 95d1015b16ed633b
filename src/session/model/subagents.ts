// Subagents: sessions that the agent runs for this one. Each is one entry, shown like a tool call
// with its title, status, messages to and from other sessions, and latest text. A subagent outlives
// turns and can become active again ("subagent_update", "session_message").
import { head, tail } from '../../base/text';
import { boundRaw } from '../events/bounds';
import type { ToolContent } from '../events/content';
import type { EventOf } from '../events/event';
import type { ModelContext, Subagent } from './context';
import type { ToolEntry } from './state';
import { beginNest, isEnded, nest, shortenOldest } from './tools';

const MAX_SUBAGENTS = 200;
/** Limits: messages kept between sessions, messages shown per subagent, characters of each. */
const MAX_MESSAGES = 500;
const MAX_SHOWN = 20;
const MAX_CHARS = 20_000;

type SubagentEvent = EventOf<'subagent' | 'subagent_said' | 'subagent_did' | 'subagents_ended' | 'session_message'>;

export function subagentCallId(sessionId: string): string {
  return `subagent ${sessionId}`;
}

export function applySubagent(context: ModelContext, event: SubagentEvent, at: number): void {
  if (event.type === 'session_message') {
    applyMessage(context, event, at);
    return;
  }
  if (event.type === 'subagents_ended') {
    endAll(context, at);
    return;
  }
  const subagent = get(context, event.sessionId, at);
  const entry = context.state.entries[subagent.index];
  if (entry?.kind !== 'tool') return;
  switch (event.type) {
    case 'subagent':
      if (event.title !== undefined) subagent.title = head(event.title ?? '', 500);
      if (event.description !== undefined) subagent.description = head(event.description ?? '', MAX_CHARS);
      if (event.state !== undefined) setState(entry, event.state, at);
      if (event.canCancel !== undefined) entry.canCancel = event.canCancel;
      setFolders(entry, event);
      if (event.parent !== undefined) entry.parent ??= event.parent;
      break;
    case 'subagent_said':
      if (subagent.did !== '' || event.messageId !== subagent.saidId) subagent.said = '';
      subagent.did = '';
      subagent.saidId = event.messageId;
      subagent.said = tail(subagent.said + event.text, MAX_CHARS);
      break;
    case 'subagent_did':
      subagent.did = head(event.title, 500);
      break;
  }
  draw(context, event.sessionId, subagent, entry);
}

function endAll(context: ModelContext, at: number): void {
  for (const subagent of context.subagents.byId.values()) end(context, subagent, at);
}

function end(context: ModelContext, { index }: Subagent, at: number): void {
  const entry = context.state.entries[index];
  if (entry?.kind !== 'tool' || isEnded(entry.status)) return;
  entry.status = 'cancelled';
  entry.endedAt = at;
  nest(context, entry, false);
  context.note((changes) => changes.entry(index));
}

function applyMessage(context: ModelContext, event: EventOf<'session_message'>, at: number): void {
  const { messages, byId } = context.subagents;
  const key = context.subagents.messageKey(event.session, event.messageId);
  let message = messages.get(key);
  if (!message) {
    if (messages.size >= MAX_MESSAGES) {
      const [oldest] = messages.keys();
      if (oldest !== undefined) messages.delete(oldest);
    }
    const sides = { sender: undefined, recipient: undefined, senderMessage: undefined, recipientMessage: undefined };
    message = { ...sides, text: '' };
    messages.set(key, message);
  }
  for (const side of ['sender', 'recipient', 'senderMessage', 'recipientMessage'] as const)
    if (event[side] !== undefined) message[side] = event[side] ?? undefined;
  message.text = head((event.text ?? message.text) + (event.append ?? ''), MAX_CHARS);
  const { sender, recipient } = message;
  // A part of the message can precede its sender and recipient: show it once they are known.
  if (sender === undefined && recipient === undefined) return;
  const known = [sender, recipient].filter((id): id is string => id !== undefined && byId.has(id));
  const [first] = known.length > 0 ? known : [sender ?? recipient];
  for (const id of known.length > 0 ? known : first !== undefined ? [first] : []) {
    const subagent = get(context, id, at);
    const entry = context.state.entries[subagent.index];
    if (entry?.kind === 'tool') draw(context, id, subagent, entry);
  }
}

function forgetOne(context: ModelContext, at: number): void {
  const { byId } = context.subagents;
  const isDone = ([, { index }]: [string, Subagent]): boolean => {
    const entry = context.state.entries[index];
    return entry?.kind !== 'tool' || isEnded(entry.status);
  };
  const [id, subagent] = [...byId].find(isDone) ?? [...byId][0] ?? [];
  if (id === undefined || !subagent) return;
  byId.delete(id);
  end(context, subagent, at);
}

function get(context: ModelContext, id: string, at: number): Subagent {
  const { byId } = context.subagents;
  const known = byId.get(id);
  if (known) return known;
  if (byId.size >= MAX_SUBAGENTS) forgetOne(context, at);
  const index = context.push(
    (base) => ({
      ...base,
      kind: 'tool',
      toolCallId: subagentCallId(id),
      subagentId: id,
      title: '',
      toolKind: 'subagent',
      status: 'in_progress',
      content: [],
      locations: [],
    }),
    at,
  );
  const subagent: Subagent = { index, title: '', description: '', said: '', saidId: undefined, did: '' };
  byId.set(id, subagent);
  const entry = context.state.entries[index];
  if (entry?.kind === 'tool') {
    context.tools.set(entry.toolCallId, index);
    beginNest(context, entry);
  }
  return subagent;
}

function setState(entry: ToolEntry, state: string | null, at: number): void {
  entry.status = state === 'idle' ? 'completed' : state === 'requires_action' ? 'paused' : 'in_progress';
  if (entry.status === 'completed') entry.endedAt = at;
  else delete entry.endedAt;
}

/** Sets the subagent's folders, shown like the input of a call. */
function setFolders(entry: ToolEntry, { cwd, additionalDirectories }: EventOf<'subagent'>): void {
  const changed = Object.entries({ cwd, additionalDirectories }).filter(([, value]) => value !== undefined);
  if (changed.length === 0) return;
  const folders = Object.entries({ ...(entry.rawInput as object | undefined), ...Object.fromEntries(changed) });
  const set = folders.filter(([, value]) => value !== null);
  if (set.length > 0) entry.rawInput = boundRaw(Object.fromEntries(set));
  else delete entry.rawInput;
}

/** Returns a message, which is in the transcripts of both sides, once. */
function messagesOf({ subagents }: ModelContext, id: string) {
  const { messages } = subagents;
  const ofIt = [...messages].filter(
    ([, { sender, recipient, text }]) => text !== '' && (sender === id || recipient === id),
  );
  const repeated = new Set(
    ofIt.flatMap(([key, { sender, recipient, senderMessage, recipientMessage }]) => {
      if (senderMessage !== undefined && messages.get(subagents.messageKey(sender, senderMessage))?.text) return key;
      return recipientMessage === undefined ? [] : subagents.messageKey(recipient, recipientMessage);
    }),
  );
  return ofIt.flatMap(([key, message]) => (repeated.has(key) ? [] : message));
}

function draw(context: ModelContext, id: string, subagent: Subagent, entry: ToolEntry): void {
  entry.title = subagent.title || `Subagent ${id.slice(0, 40)}`;
  nest(context, entry, true);
  const parts = [
    subagent.description,
    ...messagesOf(context, id)
      .slice(-MAX_SHOWN)
      .map(({ sender, text }) => `**${sender === id ? 'It says' : 'It is told'}:** ${text}`),
    subagent.said,
    subagent.did && `*${subagent.did.replace(/[*_\\`[\]<]/g, '\\$&')}*`,
  ];
  entry.content = parts
    .filter((text) => text !== '')
    .map((text): ToolContent => ({ type: 'content', block: { type: 'text', text } }));
  shortenOldest(context, context.toolSizes.set(entry));
  context.note((changes) => changes.entry(entry.index));
}
