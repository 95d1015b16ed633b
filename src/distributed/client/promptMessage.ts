// Converts a prompt into a message of the Agent Communication Protocol.

import * as z from 'zod/mini';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { ContentBlock } from '../../session/events/content';
import { MAX_MESSAGE_BYTES, type Message, type MessagePart, textPart, timestamp, urlSchema } from '../model/model';

/**
 * Makes attached files artifacts, and links to local files text.
 * @throws ParleyError `message-too-large`
 */
export function promptMessage(prompt: readonly ContentBlock[], now: number): Message {
  const at = timestamp(now);
  const message = { role: 'user', parts: prompt.flatMap(promptPart), created_at: at, completed_at: at };
  if (Buffer.byteLength(JSON.stringify(message)) <= MAX_MESSAGE_BYTES) return message;
  throw new ParleyError('message-too-large', localizable('The message with its attachments is larger than 5 MB.'), {
    hint: localizable('Attach fewer or smaller files.'),
  });
}

function promptPart(block: ContentBlock): MessagePart[] {
  switch (block.type) {
    case 'text':
      return [textPart(block.text)];
    case 'image':
    case 'audio':
      return [{ content_type: block.mimeType, content: block.data, content_encoding: 'base64' }];
    case 'resource_link': {
      const type = block.mimeType ?? 'application/octet-stream';
      if (!z.safeParse(urlSchema, block.uri).success) return [textPart(`${block.title ?? block.name} (${block.uri})`)];
      return [{ name: block.name, content_type: type, content_url: block.uri, content_encoding: 'plain' }];
    }
    case 'resource': {
      const name = block.uri.split(/[\\/]/).at(-1) || block.uri;
      if (block.text !== undefined) return [{ ...textPart(block.text, block.mimeType), name }];
      const type = block.mimeType ?? 'application/octet-stream';
      return [{ name, content_type: type, content: block.blob ?? '', content_encoding: 'base64' }];
    }
    case 'unknown':
      return [];
  }
}
