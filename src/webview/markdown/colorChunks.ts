// Cuts code into stretches that are coloured one by one: the highlighter takes the square of the length for some texts, so each stretch is short. Pure.

/** Characters that are coloured at once. */
const CHUNK = 3_000;
/** A longer line stays plain: it is data, or made to be slow. */
const LONGEST_LINE = 1_000;

export interface ColorChunk {
  readonly text: string;
  readonly plain: boolean;
}

/** The stretches of a text; they end after lines, where possible before one that begins at the margin after a blank one, so that few comments and texts are torn. */
export function colorChunks(text: string): ColorChunk[] {
  const chunks: ColorChunk[] = [];
  let from = 0;
  /** The last good place for a cut. */
  let cut = 0;
  let at = 0;
  const take = (to: number, plain = false): void => {
    if (to > from) chunks.push({ text: text.slice(from, to), plain });
    from = cut = Math.max(from, to);
  };
  while (at < text.length) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline + 1;
    if (end - at > LONGEST_LINE) {
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
