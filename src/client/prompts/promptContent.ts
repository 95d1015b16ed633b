// Converts a queued message into the content of a prompt.
import { type PromptCapabilities, takes } from '../../acp/protocol/dialect';
import type { ContentBlock } from '../../session/events/content';
import type { QueuedAttachment, QueueItem } from '../../session/queue/queue';

/** Returns the text, then each attachment in the best form that the agent takes. */
export function contentOf(item: QueueItem, capabilities: PromptCapabilities): ContentBlock[] {
  const blocks: ContentBlock[] = item.text === '' ? [] : [{ type: 'text', text: item.text }];
  for (const { forms, label } of item.attachments) {
    blocks.push(forms.find((form) => takes(capabilities, form)) ?? { type: 'text', text: `[${label}]` });
  }
  return blocks;
}

/**
 * Returns how many bytes of an attachment are sent; undefined if only its address is.
 * @param capabilities undefined: not known yet
 */
export function sentBytes(
  { forms }: QueuedAttachment,
  capabilities: PromptCapabilities | undefined,
): number | undefined {
  const form = capabilities ? forms.find((candidate) => takes(capabilities, candidate)) : forms[0];
  switch (form?.type) {
    case 'text':
      return Buffer.byteLength(form.text);
    case 'image':
    case 'audio':
      return Buffer.byteLength(form.data, 'base64');
    case 'resource':
      return form.text === undefined ? Buffer.byteLength(form.blob ?? '', 'base64') : Buffer.byteLength(form.text);
    default:
      return undefined;
  }
}

export function contentOfSent(item: QueueItem | undefined): readonly ContentBlock[] {
  return item ? contentOf(item, { image: true, audio: true, embeddedContext: true }) : [];
}
