// Finds a part in a text where it stands exactly once.

/**
 * Returns where a part stands; undefined where it does not, or more than once. Linear in both
 * lengths, whatever they say (Knuth, Morris and Pratt).
 */
export function onlyPlaceOf(text: string, part: string): number | undefined {
  if (part === text) return 0;
  if (part === '') return undefined;
  const borders = bordersOf(part);
  let only: number | undefined;
  let same = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (same > 0 && (same === part.length || part.charCodeAt(same) !== code)) same = borders[same] ?? 0;
    if (part.charCodeAt(same) === code) same++;
    if (same < part.length) continue;
    if (only !== undefined) return undefined;
    only = at + 1 - part.length;
  }
  return only;
}

/** For each beginning of a text, by its length: how much of that beginning is its end too. */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length + 1);
  let same = 0;
  for (let at = 1; at < part.length; at++) {
    const code = part.charCodeAt(at);
    while (same > 0 && part.charCodeAt(same) !== code) same = borders[same] ?? 0;
    if (part.charCodeAt(same) === code) same++;
    borders[at + 1] = same;
  }
  return borders;
}
