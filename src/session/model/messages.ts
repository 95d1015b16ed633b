// Adds message chunks and whole messages to the transcript. A chunk with an id extends that
// message; one without an id extends the last message until another entry follows. A prompt and its
// echo by the agent are one entry.

import { grown, head, textOfBlocks } from '../../base/text';
import { boundBlock, MAX_LIST, MAX_MEDIA_CHARS, MAX_MESSAGE_CHARS, MAX_RAW_CHARS, mediaSize } from '../events/bounds';
import type { ContentBlock } from '../events/content';
import type { EventOf } from '../events/event';
import { currentTurn, type ModelContext, type PromptEcho } from './context';
import type { MessageEntry } from './state';
import { callOf } from './tools';
import { beginReplayedTurn, markAsElsewhere } from './turns';

const MAX_PROMPTS = 50;

/** Applies a chunk of a message or thought (protocol v1 "session/update", v2 "message chunks"). */
export function addMessageChunk(context: ModelContext, event: EventOf<'message_chunk'>, at: number): void {
  const { state } = context;
  if (event.parent !== undefined) {
    addNestedChunk(context, event, event.parent, at);
    return;
  }
  if (event.role === 'user' && isEcho(context, event, at)) return;
  const entry = openMessage(context, event.role, event.messageId);
  if (entry) {
    append(context, entry, event.block, at);
    return;
  }
  // Some agents send empty chunks that carry only metadata.
  if (event.block.type === 'text' && event.block.text === '') return;
  const block =
    event.block.type === 'text' ? { ...event.block, text: head(event.block.text, MAX_MESSAGE_CHARS) } : event.block;
  if (event.role === 'user') beginReplayedTurn(context, at);
  const dropped =
    event.block.type === 'text' && block.type === 'text' ? event.block.text.length - block.text.length : 0;
  // A chunk for a message of an ended turn belongs to that turn, even if another turn is running.
  const known =
    event.messageId === undefined
      ? undefined
      : state.entries[context.messages.get(`${event.role}:${event.messageId}`) ?? -1];
  const earlier =
    known && event.messageId !== undefined && isIdReused(context, event.role, event.messageId) ? undefined : known;
  const index = context.push(
    (base) => ({
      ...base,
      ...(earlier?.turnId !== undefined &&
        earlier.turnId !== state.turn?.id && { turnId: earlier.turnId, late: true as const }),
      kind: event.role,
      content: [block],
      dropped,
      until: at,
      messageId: event.messageId,
    }),
    at,
  );
  if (event.messageId !== undefined) context.messages.set(`${event.role}:${event.messageId}`, index);
  if (event.role === 'user') markAsElsewhere(context, state.entries[index] as MessageEntry);
}

const MAX_NESTED = 200;

/**
 * Applies a chunk from a subagent, which other subagents may interleave. Messages to it count as
 * agent messages, so that no turn begins with them.
 */
function addNestedChunk(
  context: ModelContext,
  { role, block, messageId }: EventOf<'message_chunk'>,
  parent: string,
  at: number,
): void {
  const { nestedMessages, state } = context;
  const kind = role === 'user' ? 'agent' : role;
  const known = nestedMessages.get(parent);
  if (known?.kind === kind && known.messageId === messageId) {
    append(context, known, block, at);
    return;
  }
  if (block.type === 'text' && block.text === '') return;
  const { content, dropped } = bounded([block]);
  const ids = { parent, messageId };
  const index = context.push((base) => ({ ...base, ...ids, kind, content, dropped, until: at }), at);
  const entry = state.entries[index] as MessageEntry;
  nestedMessages.delete(parent);
  nestedMessages.set(parent, entry);
  const [oldest] = nestedMessages.keys();
  if (nestedMessages.size > MAX_NESTED && oldest !== undefined) nestedMessages.delete(oldest);
  const changed = state.nests.add(entry, parent, callOf(context, parent), false);
  for (const changedEntry of changed) context.note((changes) => changes.entry(changedEntry.index));
}

/**
 * Applies a whole message (v2 `user_message`, `agent_message`, `agent_thought`): content replaces,
 * null clears, absent leaves unchanged.
 */
export function setMessage(context: ModelContext, event: EventOf<'message'>, at: number): void {
  const { role, messageId } = event;
  const key = `${role}:${messageId}`;
  const known = context.state.entries[context.messages.get(key) ?? -1];
  if (role === 'user' && (!known || known.turnId !== context.state.turn?.id)) linkByText(context, key, event);
  const entry = context.state.entries[context.messages.get(key) ?? -1];
  if (entry?.kind === role && !(event.content && isIdReused(context, role, messageId))) {
    if (event.content === undefined || (role === 'user' && repeatsPrompt(context, entry, event.content))) return;
    const { content, dropped } = bounded(event.content ?? []);
    entry.content.splice(0, entry.content.length, ...content);
    entry.dropped = dropped;
    entry.until = at;
    context.note((changes) => changes.entry(entry.index));
    return;
  }
  const { content, dropped } = bounded(event.content ?? []);
  if (content.length === 0) return; // its chunks follow
  if (role === 'user') beginReplayedTurn(context, at);
  const index = context.push((base) => ({ ...base, kind: role, messageId, content, dropped, until: at }), at);
  context.messages.set(key, index);
  if (role === 'user') markAsElsewhere(context, context.state.entries[index] as MessageEntry);
}

/** Adds the user's prompt, unless the agent has already echoed it. */
export function addPrompt(context: ModelContext, event: EventOf<'prompt_sent'>, at: number): void {
  const { promptId, content, messageId, echo = textOfBlocks(content) } = event;
  if (messageId !== undefined && context.messages.has(`user:${messageId}`)) return;
  const sent = context.prompts.get(promptId);
  if (sent && context.state.entries[sent.index]?.turnId === event.turnId) {
    sent.text = echo;
    sent.position = 0;
    return;
  }
  const index = context.push(
    (base) => ({ ...base, kind: 'user', promptId, content: [...content], dropped: 0, until: at }),
    at,
  );
  context.echo = { index, text: echo, position: 0 };
  context.prompts.set(promptId, context.echo);
  const [oldest] = context.prompts.keys();
  if (context.prompts.size > MAX_PROMPTS && oldest !== undefined) context.prompts.delete(oldest);
  if (messageId !== undefined) linkPrompt(context, { type: 'prompt_inserted', promptId, messageId });
}

/** Assigns the agent's message id to a prompt, so that later updates apply to it. */
export function linkPrompt(context: ModelContext, event: EventOf<'prompt_inserted'>): void {
  const echo = context.prompts.get(event.promptId);
  const key = `user:${event.messageId}`;
  if (echo && !context.messages.has(key)) link(context, key, event.messageId, echo);
}

function link(context: ModelContext, key: string, messageId: string, echo: PromptEcho): void {
  const entry = context.state.entries[echo.index];
  if (entry?.kind !== 'user' || entry.messageId !== undefined) return;
  entry.messageId = messageId;
  context.messages.set(key, echo.index);
}

/** Recognises an echo by its text if the agent never sent the prompt's id. */
function linkByText(context: ModelContext, key: string, event: EventOf<'message'>): void {
  const { echo } = context;
  if (echo && event.content && textOfBlocks(event.content) === echo.text) link(context, key, event.messageId, echo);
}

function bounded(blocks: readonly ContentBlock[]): { content: ContentBlock[]; dropped: number } {
  const content: ContentBlock[] = [];
  let room = MAX_MESSAGE_CHARS;
  let dropped = 0;
  for (const block of blocks.slice(0, MAX_LIST)) {
    if (block.type !== 'text') {
      content.push(boundBlock(block));
      continue;
    }
    const text = head(block.text, room);
    room -= text.length;
    dropped += block.text.length - text.length;
    const last = content.at(-1);
    if (last?.type === 'text') content[content.length - 1] = { type: 'text', text: last.text + text };
    else if (text !== '') content.push({ type: 'text', text });
  }
  return { content, dropped };
}

/**
 * Returns whether a known id is about a new message: some agents give all turns the same message
 * id. False if this turn has a message with another id.
 */
function isIdReused({ state, messages }: ModelContext, role: MessageEntry['kind'], messageId: string): boolean {
  const known = messages.get(`${role}:${messageId}`);
  const turn = currentTurn(state);
  if (known === undefined || !turn) return false;
  // A session is replayed in order.
  if (role === 'user') return !state.turn && known !== state.entries.length - 1;
  if (state.entries[known]?.turnId === turn.id) return false;
  for (let index = state.entries.length - 1; index >= 0; index--) {
    const entry = state.entries[index];
    if (entry?.turnId !== turn.id) {
      if (entry && !('late' in entry && entry.late)) return true;
    } else if (entry.kind === role && !('parent' in entry && entry.parent)) return false;
  }
  return true;
}

function openMessage(
  context: ModelContext,
  role: MessageEntry['kind'],
  messageId: string | undefined,
): MessageEntry | undefined {
  const { state } = context;
  const newest = state.entries.at(-1);
  // The agent does not continue a subagent's message.
  const last = newest && 'parent' in newest && newest.parent ? undefined : newest;
  if (messageId === undefined && context.wholeAt === state.entries.length) return undefined;
  // Fast path without an index key, for the common chunk that extends the last entry.
  const isLast = last?.kind === role && last.messageId === messageId && last.index >= context.renewedAt;
  const entry =
    messageId === undefined || isLast ? last : state.entries[context.messages.get(`${role}:${messageId}`) ?? -1];
  if (!entry || entry.kind !== role || (messageId === undefined && entry.messageId !== undefined)) return undefined;
  // A prompt is complete when sent; user chunks without an id are from a replay or another client.
  const turn = entry.turnId === undefined ? undefined : context.turnsById.get(entry.turnId);
  if (role === 'user' && messageId === undefined && turn && !turn.replayed && entry.late === undefined)
    return undefined;
  const mayBeAnother = messageId !== undefined && !(isLast && entry.turnId === currentTurn(state)?.id);
  if (mayBeAnother && isIdReused(context, role, messageId)) return undefined;
  const closed = turn?.endedAt !== undefined && entry.late === undefined;
  return closed || (messageId === undefined && entry.turnId !== (state.turn ?? state.turns.at(-1))?.id)
    ? undefined
    : entry;
}

export function appendText(context: ModelContext, entry: MessageEntry, text: string, at: number): void {
  append(context, entry, { type: 'text', text }, at);
}

function append(context: ModelContext, entry: MessageEntry, block: ContentBlock, at: number): void {
  entry.until = at;
  const last = entry.content.at(-1);
  if (block.type === 'text' && last?.type === 'text') {
    const room = MAX_MESSAGE_CHARS - last.text.length;
    const text = block.text.length <= room ? block.text : head(block.text, Math.max(0, room));
    entry.dropped += block.text.length - text.length;
    if (text === '') return;
    entry.content[entry.content.length - 1] = { type: 'text', text: grown(last.text, text) };
    context.note((changes) => changes.appended(entry.index, text));
    return;
  }
  const joined = last && joinedForAgent(last, block);
  if (joined) {
    entry.content[entry.content.length - 1] = joined;
    context.note((changes) => changes.entry(entry.index));
    return;
  }
  // A message over the limits is full of media: one note replaces the rest.
  const isFull = entry.content.length >= MAX_PARTS || sizeOf(entry) + mediaSize(block) > MAX_ALL_MEDIA_CHARS;
  if (isFull && block.type !== 'text') {
    if (last?.type !== 'text' || !last.text.endsWith(LEFT_OUT))
      append(context, entry, { type: 'text', text: LEFT_OUT }, at);
    return;
  }
  entry.content.push(block);
  context.note((changes) => changes.added(entry.index, entry.content.length - 1));
}

/**
 * Joins two texts for the agent; undefined if either is something else or the result is too large.
 */
function joinedForAgent(last: ContentBlock, block: ContentBlock): ContentBlock | undefined {
  if (last.type !== 'unknown' || !last.forAgent || typeof last.raw !== 'string') return undefined;
  if (block.type !== 'unknown' || !block.forAgent || typeof block.raw !== 'string') return undefined;
  return last.raw.length + block.raw.length > MAX_RAW_CHARS ? undefined : { ...last, raw: last.raw + block.raw };
}

function sizeOf({ content }: MessageEntry): number {
  return content.reduce((sum, block) => sum + mediaSize(block), 0);
}

/** Parts of one message that cannot be joined. */
const MAX_PARTS = 2000;
const MAX_ALL_MEDIA_CHARS = 4 * MAX_MEDIA_CHARS;
const LEFT_OUT = '[more was left out: the message is too large]';

/** Some agents echo the prompt as user chunks, which are not shown again. */
function isEcho(context: ModelContext, event: EventOf<'message_chunk'>, at: number): boolean {
  const { messageId, block } = event;
  const { echo, state } = context;
  const index = messageId === undefined ? undefined : context.messages.get(`user:${messageId}`);
  if (index !== undefined) return isEchoOf(context, index, block, at);
  if (!echo || !state.turn) return false;
  if (state.turn.firstOutputAt === undefined) return block.type !== 'text' || matchesEcho(echo, block.text);
  // Some agents think before they echo: then only the whole prompt is its echo, once.
  const prompt = state.entries[echo.index];
  const isEchoed = echo.position > 0 || (prompt?.kind === 'user' && prompt.messageId !== undefined);
  return !isEchoed && block.type === 'text' && block.text === echo.text && matchesEcho(echo, block.text);
}

function isEchoOf(context: ModelContext, index: number, block: ContentBlock, at: number): boolean {
  const entry = context.state.entries[index];
  const [promptId, echo] = [...context.prompts].find(([, candidate]) => candidate.index === index) ?? [];
  if (!echo || promptId === undefined || entry?.kind !== 'user') return false;
  if (block.type !== 'text' || matchesEcho(echo, block.text)) return true;
  context.prompts.delete(promptId);
  const { content, dropped } = bounded([{ type: 'text', text: echo.text.slice(0, echo.position) }, block]);
  entry.content.splice(0, entry.content.length, ...content);
  entry.dropped = dropped;
  entry.until = at;
  context.note((changes) => changes.entry(index));
  return true;
}

/** Returns whether a message repeats its prompt, which then stays as sent, with its attachments. */
function repeatsPrompt(context: ModelContext, entry: MessageEntry, content: readonly ContentBlock[] | null): boolean {
  const echo = [...context.prompts.values()].find(({ index }) => index === entry.index);
  return echo !== undefined && content !== null && textOfBlocks(content) === echo.text;
}

function matchesEcho(echo: PromptEcho, text: string): boolean {
  if (!echo.text.startsWith(text, echo.position)) return false;
  echo.position += text.length;
  return true;
}
