// Pictures, sounds and files apart from the JSON that they stand in: as a part of a JSON text, megabytes of base64 cost many times what copying them costs.
import { randomUUID } from 'node:crypto';
import { roughSize } from '../../base/text';

/** Characters of base64 from which it is worth it. */
const MIN_CHARS = 64 * 1024;

/** A value as JSON, with marks in the places of its large data. */
export interface MediaText {
  readonly json: string;
  /** Begins each mark, which ends with an index of `media`; nobody can guess it. */
  readonly mark: string;
  readonly media: readonly string[];
}

/** Returns a value as JSON without the large texts that stand under `data` and `blob`. @throws TypeError where it has no JSON */
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

/** Returns the value again. @throws SyntaxError where it is damaged */
export function putMedia({ json, mark, media }: MediaText): unknown {
  if (media.length === 0) return JSON.parse(json);
  return JSON.parse(json, (_key, part: unknown) =>
    typeof part === 'string' && part.startsWith(mark) ? media[Number(part.slice(mark.length))] : part,
  );
}
