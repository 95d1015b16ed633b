// Matches a message of the user that an agent sends with the prompt that it repeats: agents echo
// what they take in, mostly before they answer (src/acp/proposals/promptLifecycle.ts).
import { textOfBlocks } from '../../base/text';
import type { ContentBlock } from '../../session/events/content';
import type { SessionEvent } from '../../session/events/event';

/** A prompt that has left and was not taken in yet. */
export interface WaitingPrompt {
  readonly text: string;
  readonly messageId?: string | undefined;
  /**
   * It stands in the transcript at the beginning of a turn, and is taken in next whatever its
   * words.
   */
  readonly begins: boolean;
}

/** A message of the user's that the agent sends, and its text as far as it is there. */
export interface UserMessage {
  readonly messageId: string;
  readonly text: string;
  /** More of it may follow. */
  readonly partial: boolean;
}

/**
 * Undefined for every other event, and for a message without an id: what has no id cannot be told
 * from a replay.
 */
export function userMessageOf(event: SessionEvent): UserMessage | undefined {
  if (event.type === 'message_chunk') {
    if (event.role !== 'user' || event.messageId === undefined) return undefined;
    return { messageId: event.messageId, text: textOf([event.block]), partial: true };
  }
  if (event.type !== 'message' || event.role !== 'user') return undefined;
  return { messageId: event.messageId, text: textOf(event.content ?? []), partial: false };
}

/**
 * The prompt that a message is: by its id, else by its text, else the one that begins the turn.
 * That one is next in any case, and an agent may have changed its words.
 * @param waiting in the order in which they left
 */
export function promptOf<T extends WaitingPrompt>(waiting: readonly T[], message: UserMessage): T | undefined {
  const byId = waiting.find(({ messageId }) => messageId === message.messageId);
  if (byId) return byId;
  const unnamed = waiting.filter(({ messageId }) => messageId === undefined);
  const words = plain(message.text);
  const byText = unnamed.find(({ text }) =>
    message.partial ? words !== '' && plain(text).startsWith(words) : plain(text) === words,
  );
  return byText ?? unnamed.find(({ begins }) => begins);
}

export function textOf(content: readonly ContentBlock[]): string {
  return textOfBlocks(content);
}

/** Agents trim, and break lines in their own way. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
