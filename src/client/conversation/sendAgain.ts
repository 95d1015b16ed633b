// The prompt of a turn that failed, as a message that can be sent again.
import type { ContentBlock } from '../../session/content';
import type { PromptQueue, QueuedAttachment } from '../../session/queue';
import type { SessionState, Turn } from '../../session/state';

/** What a failed turn was asked. */
export interface FailedPrompt {
  readonly text: string;
  /** In the form in which the agent got them. */
  readonly attachments: readonly QueuedAttachment[];
}

/**
 * Returns the newest turn where it is one of the user's that ended with an error.
 * @param queue a message that repeats a prompt already, or that was sent again from here (`again`), leaves nothing to send
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

/** Returns what the user said in the newest turn, which has this id. */
export function promptOfTurn({ entries }: Readonly<SessionState>, turnId: string): FailedPrompt {
  const said: ContentBlock[] = [];
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (entry?.kind === 'turn_end' && entry.turnId !== turnId) break;
    if (entry?.kind === 'user' && entry.turnId === turnId) said.unshift(...entry.content);
  }
  return {
    text: said.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
    attachments: said.flatMap((block, index) => attachmentOf(block, `again${index}`) ?? []),
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
      return undefined; // a text is in the message, and what was too large to keep is gone
  }
}

/** The last part of an address, with its lines. */
function nameOf(uri: string): string {
  const last = uri.slice(uri.lastIndexOf('/') + 1) || uri;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
