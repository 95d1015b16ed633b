// Splits code into short chunks, as the highlighter takes quadratic time for some texts. Pure.

const CHUNK = 3_000;
/** Longer lines stay plain: they are data, or an attempt to block the highlighter. */
const LONGEST_LINE = 1_000;

export interface ColorChunk {
  readonly text: string;
  readonly plain: boolean;
}

/**
 * Chunks end after a line, preferably before an unindented line that follows a blank one, so that
 * few comments and strings are split.
 */
export function colorChunks(text: string, longestLine = LONGEST_LINE): ColorChunk[] {
  const chunks: ColorChunk[] = [];
  let from = 0;
  let cut = 0;
  let at = 0;
  const take = (to: number, plain = false): void => {
    if (to > from) chunks.push({ text: text.slice(from, to), plain });
    from = cut = Math.max(from, to);
  };
  while (at < text.length) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline + 1;
    if (end - at > longestLine) {
      take(at);
      take(end, true);
    } else {
      if (end - from > CHUNK) take(cut > from ? cut : at);
      if (text[at] !== ' ' && text[at] !== '\t' && text[at - 2] === '\n') cut = at;
    }
    at = end;
  }
  take(text.length);
  return chunks;
}
