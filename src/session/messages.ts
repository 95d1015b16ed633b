// Messages: chunks become entries. With an id, chunks belong to the message of that id; without one, a message goes on until something else comes between.
import { head, MAX_MESSAGE_CHARS } from './bounds';
import type { ContentBlock } from './content';
import type { SessionEvent } from './event';
import type { ModelContext } from './model';
import type { MessageEntry } from './state';

/** Applies a chunk of a message of the user, the agent or its thoughts (protocol v1 "session/update", v2 "message chunks"). */
export function addMessageChunk(
  context: ModelContext,
  event: Extract<SessionEvent, { type: 'message_chunk' }>,
  at: number,
): void {
  const { state } = context;
  if (event.role === 'user' && isEcho(context, event.block)) return;
  const entry = openMessage(context, event.role, event.messageId);
  if (entry) {
    append(context, entry, event.block, at);
    return;
  }
  // Some agents send empty chunks that only carry metadata: they are no message.
  if (event.block.type === 'text' && event.block.text === '') return;
  const block =
    event.block.type === 'text' ? { ...event.block, text: head(event.block.text, MAX_MESSAGE_CHARS) } : event.block;
  const dropped =
    event.block.type === 'text' && block.type === 'text' ? event.block.text.length - block.text.length : 0;
  // A chunk of a message whose turn is over belongs to that turn, below its end, even when the next turn runs already.
  const earlier =
    event.messageId === undefined
      ? undefined
      : state.entries[context.messages.get(`${event.role}:${event.messageId}`) ?? -1];
  const index = context.push(
    (base) => ({
      ...base,
      ...(earlier?.turnId !== undefined &&
        earlier.turnId !== state.turn?.id && { turnId: earlier.turnId, late: true as const }),
      kind: event.role,
      content: [block],
      dropped,
      until: at,
      ...(event.messageId !== undefined && { messageId: event.messageId }),
    }),
    at,
  );
  if (event.messageId !== undefined) context.messages.set(`${event.role}:${event.messageId}`, index);
}

/** Adds what the user sent. */
export function addPrompt(
  context: ModelContext,
  event: Extract<SessionEvent, { type: 'prompt_sent' }>,
  at: number,
): void {
  const text = event.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  context.echo = { text, position: 0 };
  context.push((base) => ({ ...base, kind: 'user', content: [...event.content], dropped: 0, until: at }), at);
}

/** The entry that a chunk continues, or undefined where it begins a new one. */
function openMessage(
  context: ModelContext,
  role: MessageEntry['kind'],
  messageId: string | undefined,
): MessageEntry | undefined {
  const { state } = context;
  const last = state.entries.at(-1);
  // Nearly every chunk continues what stands last, and then the key for the index need not be made.
  const entry =
    messageId === undefined || (last?.kind === role && last.messageId === messageId)
      ? last
      : state.entries[context.messages.get(`${role}:${messageId}`) ?? -1];
  if (!entry || entry.kind !== role || (messageId === undefined && entry.messageId !== undefined)) return undefined;
  // What the user sent is complete; chunks of the user's own are replay or another client's.
  if (role === 'user' && messageId === undefined && entry.turnId !== undefined && entry.late === undefined)
    return undefined;
  const turn = entry.turnId === undefined ? undefined : context.turnsById.get(entry.turnId);
  const closed = turn?.endedAt !== undefined && entry.late === undefined;
  return closed || (messageId === undefined && entry.turnId !== (state.turn ?? state.turns.at(-1))?.id)
    ? undefined
    : entry;
}

function append(context: ModelContext, entry: MessageEntry, block: ContentBlock, at: number): void {
  entry.until = at;
  const last = entry.content.at(-1);
  if (block.type === 'text' && last?.type === 'text') {
    const room = MAX_MESSAGE_CHARS - last.text.length;
    const text = block.text.length <= room ? block.text : head(block.text, Math.max(0, room));
    entry.dropped += block.text.length - text.length;
    if (text === '') return;
    entry.content[entry.content.length - 1] = { type: 'text', text: last.text + text };
    context.note((changes) => changes.appended(entry.index, text));
    return;
  }
  entry.content.push(block);
  context.note((changes) => changes.entry(entry.index));
}

/** Some agents repeat the prompt as the user's chunks: what only repeats is not shown twice. */
function isEcho(context: ModelContext, block: ContentBlock): boolean {
  const { echo, state } = context;
  if (!echo || !state.turn || state.turn.firstOutputAt !== undefined) return false;
  if (block.type !== 'text') return true;
  if (!echo.text.startsWith(block.text, echo.position)) return false;
  echo.position += block.text.length;
  return true;
}
