// What the user typed as words to look for, and the words of a text, both divided nearly as the search
// index divides them (FTS5's unicode61).

const MIN_PREFIX = 3;
const MAX_WORDS = 16;
const MAX_WORD_CHARS = 100;
const MAX_TYPED = 4000;
/** Letters, digits, private characters and the marks above letters; everything else divides words. */
const TOKEN = /[\p{L}\p{N}\p{Co}](?:[\p{L}\p{N}\p{Co}]|[\u0300-\u036f])*/gu;
const ASCII = /^[\0-\x7f]*$/;

export interface SearchWord {
  readonly text: string;
  readonly tokens: readonly string[];
  /** The last token may be the beginning of a longer one. */
  readonly isOpen: boolean;
}

export interface Token {
  readonly term: string;
  readonly from: number;
  readonly to: number;
}

/** "…" is a phrase, and so is a word with signs in it. No sign has a meaning of its own. */
export function searchWords(typed: string): readonly SearchWord[] {
  const words = [...typed.slice(0, MAX_TYPED).matchAll(/"([^"]*)"|([^\s"]+)/g)]
    .map(([, phrase, word]) => ({
      text: (phrase ?? word ?? '').replaceAll('\0', ' ').slice(0, MAX_WORD_CHARS).toWellFormed(),
      isPhrase: phrase !== undefined,
    }))
    .map((word) => ({ ...word, tokens: tokensOf(word.text).map(({ term }) => term) }))
    .filter(({ tokens }) => tokens.length > 0)
    .slice(0, MAX_WORDS);
  return words.map(({ text, isPhrase, tokens }, index) => {
    const isLast = index === words.length - 1 && !isPhrase && !/\s$/.test(typed);
    return { text, tokens, isOpen: isLast && (tokens.at(-1)?.length ?? 0) >= MIN_PREFIX };
  });
}

export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const { index, 0: token } of text.matchAll(TOKEN))
    tokens.push({ term: folded(token), from: index, to: index + token.length });
  return tokens;
}

function folded(token: string): string {
  if (ASCII.test(token)) return token.toLowerCase();
  // Letter by letter: a sigma becomes another letter at the end of a word. Composed again for scripts
  // whose letters have parts.
  const lower = Array.from(token.normalize('NFD'), (letter) => letter.toLowerCase()).join('');
  return lower
    .replace(/[\u0300-\u036f]+/g, '')
    .replaceAll('ς', 'σ')
    .normalize('NFC');
}
