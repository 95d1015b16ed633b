// Separates media data from the JSON around it: parsing megabytes of base64 within JSON costs many
// times what copying costs.
import { randomUUID } from 'node:crypto';
import { roughSize } from '../../base/text';

const MIN_CHARS = 64 * 1024;

/** A value as JSON, with placeholders for its large data. */
export interface MediaText {
  readonly json: string;
  /** Prefix of each placeholder, followed by an index of `media`; it cannot be guessed. */
  readonly mark: string;
  readonly media: readonly string[];
}

/**
 * Returns JSON without the large texts under `data` and `blob`.
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
  if (media.length === 0) return JSON.parse(json);
  return JSON.parse(json, (_key, part: unknown) =>
    typeof part === 'string' && part.startsWith(mark) ? media[Number(part.slice(mark.length))] : part,
  );
}
