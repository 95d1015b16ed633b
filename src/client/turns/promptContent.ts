// What an agent gets for a message of the queue.
import { type PromptCapabilities, takes } from '../../acp/protocol/dialect';
import type { ContentBlock } from '../../session/events/content';
import type { QueueItem } from '../../session/queue/queue';

/**
 * Returns what an agent gets for a message: its text, then each attachment in the best form that
 * it takes.
 */
export function contentOf(item: QueueItem, capabilities: PromptCapabilities): ContentBlock[] {
  const blocks: ContentBlock[] = item.text === '' ? [] : [{ type: 'text', text: item.text }];
  for (const { forms, label } of item.attachments) {
    blocks.push(forms.find((form) => takes(capabilities, form)) ?? { type: 'text', text: `[${label}]` });
  }
  return blocks;
}

/** Returns what a message that has left says. */
export function contentOfSent(item: QueueItem | undefined): readonly ContentBlock[] {
  return item ? contentOf(item, { image: true, audio: true, embeddedContext: true }) : [];
}
