// Encodes events as columns: JSON text, deflated if that saves space, followed by the bytes of
// large media. Columns are untrusted when decoded, as they can be damaged.

import { randomUUID } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { roughSize } from '../../base/text';
import { parseMessage } from '../../base/untrusted';
import type { SessionEvent } from '../../session/events/event';

/** Characters of one event's JSON; an image fits. Larger events become a notice. */
const MAX_EVENT_CHARS = 32 * 1024 * 1024;
const MIN_DEFLATED = 700;
/** Deflating more characters would block the extension host for several milliseconds. */
const MAX_DEFLATED_CHARS = 256 * 1024;
const MAX_DEFLATED_TERMINAL = 2.5 * 1024 * 1024;
const LEVEL = 1;
/**
 * Prefix of a column with media, which no deflated data has. It is followed by the placeholder
 * prefix, JSON and media, each after its length.
 */
const WITH_MEDIA = 0xff;
const BYTES = 0;
const TEXT = 1;

/** Never throws: an event without JSON, or with too much, becomes a notice. */
export function encode(event: SessionEvent): string | Uint8Array {
  const { json, ...rest } = toText(event);
  if (rest.media.length > 0) return packed({ json, ...rest });
  const most = event.type === 'terminal' ? MAX_DEFLATED_TERMINAL : MAX_DEFLATED_CHARS;
  if (json.length < MIN_DEFLATED || json.length > most) return json;
  const deflated = deflateRawSync(json, { level: LEVEL });
  return deflated.length < json.length * 0.9 ? deflated : json;
}

export function decode(column: unknown): SessionEvent | undefined {
  try {
    const hasMedia = column instanceof Uint8Array && column[0] === WITH_MEDIA;
    const value: unknown = hasMedia ? putMedia(unpacked(column)) : parseMessage(textOfColumn(column) ?? '');
    return isEvent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function textOfColumn(column: unknown): string | undefined {
  if (typeof column === 'string') return column;
  if (!(column instanceof Uint8Array)) return undefined;
  return inflateRawSync(column, { maxOutputLength: 4 * MAX_DEFLATED_TERMINAL }).toString();
}

function packed({ json, mark, media }: MediaText): Uint8Array {
  const parts = media.map((text) => {
    const bytes = Buffer.from(text, 'base64');
    const isBase64 = bytes.toString('base64') === text;
    return [Uint8Array.of(isBase64 ? BYTES : TEXT), isBase64 ? bytes : Buffer.from(text)];
  });
  const all = [[Buffer.from(mark)], [Buffer.from(json)], ...parts].flatMap((part) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(part.reduce((sum, { byteLength }) => sum + byteLength, 0));
    return [length, ...part];
  });
  return Buffer.concat([Uint8Array.of(WITH_MEDIA), ...all]);
}

/** @throws RangeError if the data is truncated */
function unpacked(column: Uint8Array): MediaText {
  const bytes = Buffer.from(column.buffer, column.byteOffset, column.byteLength);
  const parts: Buffer[] = [];
  for (let at = 1; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32LE(at);
    if (end > bytes.length) throw new RangeError('cut off');
    parts.push(bytes.subarray(at + 4, end));
    at = end;
  }
  const [mark, json, ...media] = parts;
  const textOf = (part: Buffer): string => part.toString(part[0] === TEXT ? 'utf8' : 'base64', 1);
  return { mark: String(mark), json: String(json), media: media.map(textOf) };
}

function toText(event: SessionEvent): MediaText {
  let characters = 0;
  try {
    const text = takeMedia(event);
    characters = text.media.reduce((sum, part) => sum + part.length, text.json.length);
    if (characters <= MAX_EVENT_CHARS) return text;
  } catch {
    // The notice reports it.
  }
  const notice: SessionEvent = {
    type: 'notice',
    severity: 'warning',
    title: '',
    said: { code: 'event-not-kept', args: [event.type, characters] },
    own: true,
  };
  return takeMedia(notice);
}

function isEvent(value: unknown): value is SessionEvent {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

const MIN_CHARS = 64 * 1024;

export interface MediaText {
  readonly json: string;
  /** Prefix of each placeholder, random and followed by an index of `media`. */
  readonly mark: string;
  readonly media: readonly string[];
}

/**
 * Removes the large texts under `data` and `blob` from the JSON.
 * @throws TypeError
 */
export function takeMedia(value: unknown): MediaText {
  if (roughSize(value, MIN_CHARS) <= MIN_CHARS) return { json: JSON.stringify(value), mark: '', media: [] };
  const mark = `${randomUUID()}:`;
  const media: string[] = [];
  const json = JSON.stringify(value, (key, part: unknown) => {
    const isMedia = (key === 'data' || key === 'blob') && typeof part === 'string' && part.length >= MIN_CHARS;
    return isMedia ? `${mark}${media.push(part) - 1}` : part;
  });
  return { json, mark, media };
}

/** @throws SyntaxError if it is damaged */
export function putMedia({ json, mark, media }: MediaText): unknown {
  if (media.length === 0) return parseMessage(json);
  return parseMessage(json, (_key, part: unknown) =>
    typeof part === 'string' && part.startsWith(mark) ? media[Number(part.slice(mark.length))] : part,
  );
}
