// Strings that own their memory. In V8, a slice retains its source, and concatenation builds a tree
// of pieces.

/** Copying shorter strings saves nothing. */
const LOOSE_CHARS = 4096;

/** Copies a slice, so that it does not retain its source. About 1 ms per megabyte. */
export function detached(text: string): string {
  return structuredClone(text);
}

/**
 * Appends to a growing string. At most an eighth of it is a tree of pieces (up to ten times its
 * size); the text is copied about sixteen times in total.
 */
export function grown(text: string, piece: string): string {
  const whole = text + piece;
  const step = Math.max(LOOSE_CHARS, 2 ** (31 - Math.clz32(whole.length)) / 8);
  return Math.floor(text.length / step) === Math.floor(whole.length / step) ? whole : detached(whole);
}

/** The last `limit` characters, detached, without splitting a surrogate pair. */
export function tail(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let start = text.length - limit;
  const code = text.charCodeAt(start);
  if (code >= 0xdc00 && code <= 0xdfff) start++;
  return detached(text.slice(start));
}

/** The first `limit` characters, detached, without splitting a surrogate pair. */
export function head(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const code = text.charCodeAt(limit - 1);
  return detached(text.slice(0, code >= 0xd800 && code <= 0xdbff ? limit - 1 : limit));
}

/**
 * Approximate length of the JSON text; more than `limit` if it is longer or nests over 64 levels.
 * Never throws and calls no code of the value.
 */
export function roughSize(value: unknown, limit: number): number {
  return sizeAt(value, limit, 0);
}

function sizeAt(value: unknown, limit: number, depth: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  if (depth > 64) return limit + 1;
  let size = 0;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && size <= limit; index++)
      size += 5 + sizeAt(value[index], limit - size, depth + 1);
    return size;
  }
  for (const key in value) {
    size += key.length + 4;
    size += sizeAt((value as Record<string, unknown>)[key], limit - size, depth + 1);
    if (size > limit) break;
  }
  return size;
}

/** Puts untrusted text on one line, without control characters. */
export function oneLine(text: string, limit = 200): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > limit ? `${line.slice(0, limit).replace(/[\ud800-\udbff]$/, '')}…` : line;
}

export function textOfBlocks(
  blocks: readonly { readonly type: string; readonly text?: string }[],
  separator = '',
): string {
  return blocks.flatMap(({ type, text }) => (type === 'text' ? [text ?? ''] : [])).join(separator);
}

/** Length of the common prefix, in UTF-16 units. */
export function sharedStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let same = 0;
  while (same < most && a.charCodeAt(same) === b.charCodeAt(same)) same++;
  return same;
}

/** Length of the common suffix after `start`, in UTF-16 units. */
export function sharedEnd(a: string, b: string, start: number): number {
  const most = Math.min(a.length, b.length) - start;
  let same = 0;
  while (same < most && a.charCodeAt(a.length - same - 1) === b.charCodeAt(b.length - same - 1)) same++;
  return same;
}
