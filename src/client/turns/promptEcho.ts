// Matches user messages from the agent with the prompts that they echo, mostly before the response
// (src/acp/proposals/promptLifecycle.ts).
import { textOfBlocks } from '../../base/text';
import type { Prompt, UserMessageEvent } from './turnState';

/**
 * Returns the prompt that a message echoes.
 * @param prompts in the order of sending
 * @param begins the message may be incomplete
 */
export function promptWithText(
  prompts: readonly Prompt[],
  message: readonly UserMessageEvent[],
  begins = false,
): Prompt | undefined {
  const echo = textOf(message);
  return prompts.find(({ messageId, echoed, text = '' }) => {
    if (messageId !== undefined || echoed) return false;
    return begins ? normalized(text).startsWith(echo) : normalized(text) === echo;
  });
}

function textOf(message: readonly UserMessageEvent[]): string {
  let text = '';
  for (const event of message) {
    if (event.type === 'message_chunk') text += textOfBlocks([event.block]);
    else if (event.content !== undefined) text = textOfBlocks(event.content ?? []);
  }
  return normalized(text);
}

/** Agents trim, and wrap lines differently. */
function normalized(text: string): string {
  return text.replace(/\s+/g, '');
}
