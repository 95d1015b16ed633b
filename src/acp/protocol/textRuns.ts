// Merges text chunks. Nine of ten updates are a piece of the agent's text, mostly of the same
// message as the previous one; they skip the schema and are emitted as one chunk per run. The same
// in every protocol version.
import type { SessionEvent } from '../../session/events/event';
import { isForAgent } from './readContent';

interface TextChunk {
  readonly sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk';
  readonly messageId?: string | null;
  readonly content: { readonly type: 'text'; readonly text: string };
}

export function readMergingText(
  updates: readonly unknown[],
  emit: (event: SessionEvent) => void,
  readOne: (update: unknown) => void,
): void {
  for (let index = 0; index < updates.length; index++) {
    const next = readTextRun(updates, index, emit);
    if (next > index) index = next - 1;
    else readOne(updates[index]);
  }
}

/** Returns the index after the run; `from` if there is none. */
function readTextRun(updates: readonly unknown[], from: number, emit: (event: SessionEvent) => void): number {
  const first = updates[from];
  if (!isTextChunk(first)) return from;
  const { sessionUpdate, messageId } = first;
  let { text } = first.content;
  let next = from + 1;
  for (; next < updates.length; next++) {
    const chunk = updates[next];
    if (!isTextChunk(chunk) || chunk.sessionUpdate !== sessionUpdate || !isSameId(chunk.messageId, messageId)) break;
    text += chunk.content.text;
  }
  const role = sessionUpdate === 'agent_message_chunk' ? 'agent' : 'thought';
  const block = { type: 'text', text } as const;
  if (messageId != null) emit({ type: 'message_chunk', role, messageId, block });
  else emit({ type: 'message_chunk', role, block });
  return next;
}

function isTextChunk(update: unknown): update is TextChunk {
  if (typeof update !== 'object' || update === null) return false;
  const { sessionUpdate, messageId, content, _meta } = update as Partial<Record<string, unknown>>;
  // `_meta` may name a subagent as the author.
  if (_meta != null) return false;
  if (sessionUpdate !== 'agent_message_chunk' && sessionUpdate !== 'agent_thought_chunk') return false;
  if (typeof content !== 'object' || content === null) return false;
  if (typeof messageId !== 'string' && messageId !== undefined && messageId !== null) return false;
  const { type, text, annotations } = content as Partial<Record<string, unknown>>;
  return type === 'text' && typeof text === 'string' && (annotations === undefined || !isForAgent(annotations));
}

/** Omitted and null are the same (section 1.3). */
function isSameId(one: string | null | undefined, other: string | null | undefined): boolean {
  return one === other || (one == null && other == null);
}
