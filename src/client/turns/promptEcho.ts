// Matches user messages from the agent with the prompts that they echo, mostly before the response
// (src/acp/proposals/promptLifecycle.ts).
import { textOfBlocks } from '../../base/text';
import type { Prompt, UserMessageEvent } from './turnState';

/**
 * Returns the prompt that a message echoes.
 * @param prompts in the order of sending
 * @param begins the message may be incomplete
 */
export function promptWithWords(
  prompts: readonly Prompt[],
  message: readonly UserMessageEvent[],
  begins = false,
): Prompt | undefined {
  const words = wordsOf(message);
  return prompts.find(({ messageId, echoed, text = '' }) => {
    if (messageId !== undefined || echoed) return false;
    return begins ? plain(text).startsWith(words) : plain(text) === words;
  });
}

function wordsOf(message: readonly UserMessageEvent[]): string {
  let text = '';
  for (const event of message) {
    if (event.type === 'message_chunk') text += textOfBlocks([event.block]);
    else if (event.content !== undefined) text = textOfBlocks(event.content ?? []);
  }
  return plain(text);
}

/** Agents trim, and wrap lines differently. */
function plain(text: string): string {
  return text.replace(/\s+/g, '');
}
