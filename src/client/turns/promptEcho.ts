// Matches a message of the user that an agent sends with the prompt that it repeats: agents echo
// what they take in, mostly before they answer (src/acp/proposals/promptLifecycle.ts).
import { textOfBlocks } from '../../base/text';
import type { Prompt, UserMessageEvent } from './turnState';

/**
 * Returns the prompt that a message is: by its id, else by its text.
 * @param prompts in the order in which they were sent
 */
export function promptOf(prompts: readonly Prompt[], event: UserMessageEvent): Prompt | undefined {
  const byId = prompts.find(({ messageId }) => messageId === event.messageId);
  if (byId) return byId;
  const words = plain(event.type === 'message' ? textOfBlocks(event.content ?? []) : textOfBlocks([event.block]));
  return prompts.find(({ messageId, inserted, text = '' }) => {
    if (messageId !== undefined || inserted) return false;
    return event.type === 'message_chunk' ? words !== '' && plain(text).startsWith(words) : plain(text) === words;
  });
}

/** Agents trim, and break lines in their own way. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
