// Converts parts of messages into content of the transcript: text, images, files, links. Nothing is
// fetched: a URL stays a link.
import type { ContentBlock } from '../../session/events/content';
import { citationOf, type MessagePart, textPart, trajectoryOf } from '../model/model';

/** Returns the text of a part that is only text. */
export function textOf(part: MessagePart): string | undefined {
  if (part.name !== undefined || part.content === undefined) return undefined;
  if (!isTextual(part.content_type) || citationOf(part) || trajectoryOf(part)) return undefined;
  return decoded(part);
}

/** What a part shows, leaving its metadata aside; undefined if it holds nothing. */
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

/**
 * Returns the parts of a message not shown yet. Text is compared as text: servers merge it.
 * @returns undefined if the message contradicts what was shown
 */
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

/** Returns whether content of this kind can be read as text. */
export function isTextual(mimeType: string): boolean {
  return /^(text\/|application\/(json|xml|yaml|x-ndjson)\b|application\/[\w.-]+\+(json|xml)\b)/i.test(mimeType);
}

function decoded({ content = '', content_encoding: encoding }: MessagePart): string {
  return encoding === 'base64' ? Buffer.from(content, 'base64').toString('utf8') : content;
}

/** An artifact has a name, which is no path on this machine: its address says so. */
function artifactUri(name: string): string {
  const path = name.replace(/^\/+/, '').split('/').map(encodeURIComponent).join('/');
  return `artifact:///${path}`;
}

/** The last word of the path; never the query, which may hold a signature. */
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
