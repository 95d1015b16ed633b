// Sends the prompt of a failed turn again as a new message. If a run of an HTTP agent failed
// because of the session's history, another history is sent.

import { textOfBlocks } from '../../base/text';
import type { ContentBlock } from '../../session/events/content';
import type { SessionState, Turn } from '../../session/model/state';
import type { PromptQueue, QueuedAttachment } from '../../session/queue/queue';
import type { CommunicationChat } from '../http/communicationChat';

export interface FailedPrompt {
  readonly text: string;
  readonly attachments: readonly QueuedAttachment[];
}

/**
 * Returns the newest turn if it is the user's and failed.
 * @param again id of a message that was sent again from here. It, or any other repeated prompt,
 * leaves nothing to send
 */
export function failedTurn(
  { turns, turn: running }: Readonly<SessionState>,
  queue: Pick<PromptQueue, 'items'>,
  again: string | undefined,
): Readonly<Turn> | undefined {
  const turn = turns.at(-1);
  if (running || turn?.stopReason !== 'error' || turn.origin !== 'user') return undefined;
  return queue.items.some(({ id, repeats }) => id === again || repeats !== undefined) ? undefined : turn;
}

export function promptOfTurn({ entries }: Readonly<SessionState>, turnId: string): FailedPrompt {
  const content: ContentBlock[] = [];
  let index = entries.findLastIndex((entry) => entry.turnId === turnId);
  for (; index >= 0; index--) {
    const entry = entries[index];
    if (entry?.kind === 'turn_end' && entry.turnId !== turnId) break;
    if (entry?.kind === 'user' && entry.turnId === turnId) content.unshift(...entry.content);
  }
  return promptOf(content, '\n');
}

export function promptOf(content: readonly ContentBlock[], separator?: string): FailedPrompt {
  return {
    text: textOfBlocks(content, separator),
    attachments: content.flatMap((block, index) => attachmentOf(block, `again${index}`) ?? []),
  };
}

function attachmentOf(block: ContentBlock, id: string): QueuedAttachment | undefined {
  switch (block.type) {
    case 'image':
    case 'audio':
      return { id, kind: block.type === 'image' ? 'image' : 'other', label: block.mimeType, forms: [block] };
    case 'resource':
    case 'resource_link': {
      const name = block.type === 'resource_link' ? block.name : undefined;
      return { id, kind: 'file', label: name || nameOf(block.uri), detail: block.uri, forms: [block] };
    }
    default:
      return undefined; // a text is in the message; anything else was too large to store
  }
}

function nameOf(uri: string): string {
  const last = uri.slice(uri.lastIndexOf('/') + 1) || uri;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

export interface FailedConversation {
  readonly failedTurnId: string | undefined;
  readonly communication: Pick<CommunicationChat, 'carryOn'>;
  start(): Promise<void>;
  sendAgain(turnId: string): boolean;
}

/**
 * Sends the prompt of the failed newest turn with another history.
 * @param way see `CommunicationSession.carryOn`
 * @returns false if it didn't fail or was sent again already
 * @throws errors of sending; ParleyError `no-session`, `session-busy`
 */
export async function carryOn(conversation: FailedConversation, way: string): Promise<boolean> {
  const { failedTurnId } = conversation;
  if (failedTurnId === undefined) return false;
  await conversation.start();
  await conversation.communication.carryOn(way);
  return conversation.sendAgain(failedTurnId);
}
