// Converts message parts to transcript content: text, images, files, links. Fetches nothing; URLs
// stay links.

import * as z from 'zod/mini';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { ContentBlock } from '../../session/events/content';
import type { EventOf, GapState } from '../../session/events/event';
import type { OwnText } from '../../session/events/ownText';
import type { Gap } from '../model/gap';
import {
  citationOf,
  MAX_MESSAGE_BYTES,
  type Message,
  type MessagePart,
  textPart,
  timestamp,
  trajectoryOf,
  urlSchema,
} from '../model/model';

export function textOf(part: MessagePart): string | undefined {
  if (part.name !== undefined || part.content === undefined) return undefined;
  if (!isTextual(part.content_type) || citationOf(part) || trajectoryOf(part)) return undefined;
  return decoded(part);
}

/** Ignores metadata. Undefined without content. */
export function partBlock(part: MessagePart): ContentBlock | undefined {
  const { name, content, content_url: url, content_type: mimeType } = part;
  if (url !== undefined) return { type: 'resource_link', uri: url, name: name ?? nameOfUrl(url), mimeType };
  if (content === undefined) return undefined;
  const isData = part.content_encoding === 'base64';
  const kind = mimeType.split('/', 1)[0]?.toLowerCase();
  if (isData && kind === 'image') {
    return { type: 'image', data: content, mimeType, uri: name !== undefined ? artifactUri(name) : undefined };
  }
  if (isData && kind === 'audio') return { type: 'audio', data: content, mimeType };
  if (name === undefined && isTextual(mimeType)) return { type: 'text', text: decoded(part) };
  const uri = artifactUri(name ?? 'data');
  return isTextual(mimeType) || !isData
    ? { type: 'resource', uri, mimeType, text: decoded(part) }
    : { type: 'resource', uri, mimeType, blob: content };
}

export function citationBlock(part: MessagePart): ContentBlock | undefined {
  const citation = citationOf(part);
  if (!citation) return undefined;
  const { url, title, description } = citation;
  if (url !== undefined) {
    return {
      type: 'resource_link',
      uri: url,
      name: title ?? nameOfUrl(url),
      description,
    };
  }
  const words = [title, description].filter((text) => text !== undefined && text !== '').join(': ');
  return words === '' ? undefined : { type: 'text', text: ` (${words})` };
}

export interface Shown {
  text: string;
  others: number;
}

/** Compares text as a whole, as servers merge it. Undefined if it differs from what was shown. */
export function missingParts(shown: Shown, whole: readonly MessagePart[]): readonly MessagePart[] | undefined {
  const missing: MessagePart[] = [];
  let at = 0;
  let others = shown.others;
  for (const part of whole) {
    const text = textOf(part);
    if (text === undefined) {
      if (others > 0) others -= 1;
      else missing.push(part);
      continue;
    }
    const left = shown.text.length - at;
    if (text.length <= left) {
      if (!shown.text.startsWith(text, at)) return undefined;
      at += text.length;
      continue;
    }
    if (left > 0 && !text.startsWith(shown.text.slice(at))) return undefined;
    at = shown.text.length;
    missing.push(textPart(text.slice(left), part.content_type));
  }
  return missing;
}

export function isTextual(mimeType: string): boolean {
  return /^(text\/|application\/(json|xml|yaml|x-ndjson)\b|application\/[\w.-]+\+(json|xml)\b)/i.test(mimeType);
}

function decoded({ content = '', content_encoding: encoding }: MessagePart): string {
  return encoding === 'base64' ? Buffer.from(content, 'base64').toString('utf8') : content;
}

/** The scheme shows that an artifact's name is not a local path. */
function artifactUri(name: string): string {
  const path = name.replace(/^\/+/, '').split('/').map(encodeURIComponent).join('/');
  return `artifact:///${path}`;
}

/** The last path segment; never the query, which may contain a signature. */
function nameOfUrl(url: string): string {
  const { pathname, host } = new URL(url);
  const last = pathname.split('/').findLast((part) => part !== '');
  if (last === undefined) return host;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** Files become artifacts, links to local files text. Throws ParleyError `message-too-large`. */
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

export function isRemote(part: MessagePart): part is MessagePart & { readonly content_url: string } {
  return part.content_url !== undefined && part.metadata === undefined;
}

export function isRemoteText(part: MessagePart): boolean {
  return isRemote(part) && isTextual(part.content_type);
}

export function withBytes(part: MessagePart, bytes: Uint8Array): MessagePart {
  const { content_url: _url, ...rest } = part;
  if (isTextual(part.content_type)) {
    return { ...rest, content: new TextDecoder().decode(bytes), content_encoding: 'plain' };
  }
  return { ...rest, content: Buffer.from(bytes).toString('base64'), content_encoding: 'base64' };
}

type GapEvent = EventOf<'gap'>;

export function partGapId(messageGapId: string, part: number): string {
  return `${messageGapId}.${part}`;
}

/** A gap in a running answer, which has no URL to find it by. */
export function livePart(part: MessagePart, gapId: string): GapEvent {
  const { name, content_url: url = '', content_type: mimeType } = part;
  return { ...unloadedPart(part, gapId), remote: { url, mimeType, name } };
}

export function unloadedPart(part: MessagePart, gapId: string): GapEvent {
  return gap(gapId, { code: 'part-unloaded', args: [nameOf(part), hostOf(part)] }, 'unloaded');
}

export function loadingPart(part: MessagePart, gapId: string): GapEvent {
  return gap(gapId, { code: 'part-loading', args: [nameOf(part), hostOf(part)] }, 'loading');
}

export function missingPart(part: MessagePart | undefined, gapId: string, why: Gap): GapEvent {
  const args = [part ? nameOf(part) : '', why.reason, why.host] as const;
  return gap(gapId, { code: 'part-missing', args }, why.retryable ? 'retryable' : 'final');
}

function gap(gapId: string, said: OwnText, state: GapState): GapEvent {
  return { type: 'gap', gapId, text: '', said, state };
}

function nameOf(part: MessagePart): string {
  const block = partBlock(part);
  const name = block?.type === 'resource_link' ? block.name : part.content_type;
  return `${name.slice(0, 200)} (${part.content_type.slice(0, 100)})`;
}

function hostOf({ content_url: url = '' }: MessagePart): string {
  return URL.canParse(url) ? new URL(url).host : '';
}
