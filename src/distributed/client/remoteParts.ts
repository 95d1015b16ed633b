// Parts of messages that lie behind an address of their own (`content_url`): which they are, and what they are once their bytes are here.
import type { MessagePart } from '../model/model';
import { isTextual } from './runParts';

/** Whether the content of a part is elsewhere. A citation or a step with an address is a link, not content. */
export function isRemote(part: MessagePart): part is MessagePart & { readonly content_url: string } {
  return part.content_url !== undefined && part.metadata === undefined;
}

/** Whether that content is text. */
export function isRemoteText(part: MessagePart): boolean {
  return isRemote(part) && isTextual(part.content_type);
}

/** The part with its content in it, and every other field as it came. @param bytes as its server sent them */
export function withBytes(part: MessagePart, bytes: Uint8Array): MessagePart {
  const { content_url: _url, ...rest } = part;
  if (isTextual(part.content_type)) {
    return { ...rest, content: new TextDecoder().decode(bytes), content_encoding: 'plain' };
  }
  return { ...rest, content: Buffer.from(bytes).toString('base64'), content_encoding: 'base64' };
}
