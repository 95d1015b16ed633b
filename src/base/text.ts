// Texts that own their memory. V8 makes a slice a view that keeps the whole text it was cut from, and a text put together from pieces a tree of all its pieces.

/** Pieces that are joined at once: below this, counting them costs more than they take. */
const LOOSE_CHARS = 4096;

/** A copy of a text that keeps nothing else alive: for slices that outlive what they were cut from. Costs about 1 ms per megabyte. */
export function detached(text: string): string {
  return structuredClone(text);
}

/**
 * Appends a piece to a text that grows for long. Of what is returned, at most an eighth is held as a tree of pieces (which takes up to ten times its length);
 * all in all the text is copied about sixteen times while it grows.
 */
export function grown(text: string, piece: string): string {
  const whole = text + piece;
  const step = Math.max(LOOSE_CHARS, 2 ** (31 - Math.clz32(whole.length)) / 8);
  return Math.floor(text.length / step) === Math.floor(whole.length / step) ? whole : detached(whole);
}

/** The last `limit` characters of a text, not cutting a surrogate pair. What is cut off is not kept alive. */
export function tail(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let start = text.length - limit;
  const code = text.charCodeAt(start);
  if (code >= 0xdc00 && code <= 0xdfff) start++;
  return detached(text.slice(start));
}

/** The first `limit` characters of a text, not cutting a surrogate pair. What is cut off is not kept alive. */
export function head(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const code = text.charCodeAt(limit - 1);
  return detached(text.slice(0, code >= 0xd800 && code <= 0xdbff ? limit - 1 : limit));
}

/**
 * About the length of the JSON text of a value, given up as soon as it is past `limit`; a value nested more than 64 deep counts as past it.
 * Never throws and never calls anything of the value.
 */
export function roughSize(value: unknown, limit: number): number {
  let size = 0;
  const walk = (v: unknown, depth: number): void => {
    if (size > limit) return;
    if (typeof v === 'string') size += v.length + 2;
    else if (typeof v !== 'object' || v === null) size += 8;
    else if (depth > 64) size = limit + 1;
    else
      for (const key in v) {
        size += key.length + 4;
        walk((v as Record<string, unknown>)[key], depth + 1);
        if (size > limit) return;
      }
  };
  walk(value, 0);
  return size;
}

/** Returns somebody else's text made fit for one line: no control characters, at most `limit` characters. */
export function oneLine(text: string, limit = 200): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > limit ? `${line.slice(0, limit).replace(/[\ud800-\udbff]$/, '')}…` : line;
}
