// Ranks names against the letters typed after `@`, on one scale for all kinds of mentions.

/** Lower is better. */
export const RANKS = { exact: 0, prefix: 1, word: 2, part: 3, path: 4, letters: 5, none: 6 } as const;

type Rank = (typeof RANKS)[keyof typeof RANKS];

/**
 * Ranks a path by its name, with or without extension, then by the rest.
 * @param wanted in lower case; compared with the whole path if it contains a slash
 */
export function rankOfPath(path: string, lower: string, wanted: string): Rank {
  const name = lower.lastIndexOf('/') + 1;
  const at = lower.indexOf(wanted, wanted.includes('/') ? 0 : name);
  if (at === name || (at === 0 && wanted.includes('/'))) {
    const end = at + wanted.length;
    return end === lower.length || (at === name && end === lower.indexOf('.', name + 1)) ? RANKS.exact : RANKS.prefix;
  }
  if (at > 0 && beginsWord(path, at)) return RANKS.word;
  if (at >= 0) return RANKS.part;
  if (lower.includes(wanted)) return RANKS.path;
  let next = 0;
  for (let index = 0; index < lower.length && next < wanted.length; index++)
    if (lower.charCodeAt(index) === wanted.charCodeAt(next)) next += 1;
  return next === wanted.length ? RANKS.letters : RANKS.none;
}

/** Ranks a title, such as that of a session, ignoring case and word separators. */
export function rankOfTitle(title: string, wanted: string): Rank {
  const letters = folded(wanted);
  const words = folded(title);
  if (words === letters) return RANKS.exact;
  if (words.startsWith(letters)) return RANKS.prefix;
  if (!words.includes(letters)) return RANKS.none;
  for (const { index } of title.matchAll(/(?<=[^\p{L}\p{N}])[\p{L}\p{N}]|(?<=\p{Ll})\p{Lu}/gu))
    if (folded(title.slice(index)).startsWith(letters)) return RANKS.word;
  return RANKS.part;
}

/** Mentions have no spaces while typed. */
export function folded(text: string): string {
  return text.toLowerCase().replace(/[\s\-_]+/g, '');
}

/** ASCII only, for speed: called for each file. */
function beginsWord(text: string, at: number): boolean {
  const before = text[at - 1] ?? '';
  const next = text[at] ?? '';
  if (before >= 'a' && before <= 'z') return next >= 'A' && next <= 'Z';
  return !((before >= '0' && before <= '9') || (before >= 'A' && before <= 'Z') || before > '~');
}
