// Reads link destinations `(address "title")` and bare URLs, each once and up to a limit.

export const ESCAPABLE = /[!-/:-@[-`{-~]/;
/** Maximum characters of a URL other than image data. */
export const MAX_ADDRESS = 4_096;
const MAX_TITLE = 1_000;
const DATA_IMAGE = /data:image\/[\w.+-]+;base64,[A-Za-z0-9+/=]*/y;

export function readTarget(text: string, at: number): { readonly href: string; readonly end: number } | undefined {
  if (text[at] !== '(') return undefined;
  const start = skipBlanks(text, at + 1);
  const address = text[start] === '<' ? readPointy(text, start) : readPlain(text, start);
  if (!address) return undefined;
  let end = skipBlanks(text, address.end);
  if (end > address.end) end = skipBlanks(text, readTitle(text, end));
  if (text[end] !== ')') return undefined;
  return { href: unescapeMarks(address.text), end: end + 1 };
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n') at++;
  return at;
}

interface Read {
  readonly text: string;
  readonly end: number;
}

function readPointy(text: string, start: number): Read | undefined {
  for (let at = start + 1; at < text.length && at - start < MAX_ADDRESS; at++) {
    const char = text[at];
    if (char === '>') return { text: text.slice(start + 1, at), end: at + 1 };
    if (char === '<' || char === '\n') return undefined;
    if (char === '\\') at++;
  }
  return undefined;
}

function readPlain(text: string, start: number): Read | undefined {
  DATA_IMAGE.lastIndex = start;
  const image = DATA_IMAGE.exec(text);
  if (image) return { text: image[0], end: start + image[0].length };
  let depth = 0;
  let at = start;
  for (; at < text.length; at++) {
    const char = text[at]!;
    if (at - start > MAX_ADDRESS) return undefined;
    if (char === '\\' && ESCAPABLE.test(text[at + 1] ?? '')) at++;
    else if (char === '(' && ++depth > 32) return undefined;
    else if (char === ')' && depth-- === 0) break;
    else if (char <= ' ') break;
  }
  return { text: text.slice(start, at), end: at };
}

function readTitle(text: string, start: number): number {
  const open = text[start];
  if (open !== '"' && open !== "'" && open !== '(') return start;
  const close = open === '(' ? ')' : open;
  for (let at = start + 1; at < text.length && at - start < MAX_TITLE; at++) {
    if (text[at] === close) return at + 1;
    if (text[at] === '\\') at++;
  }
  return start;
}

/** Removes trailing punctuation and an unmatched closing bracket. */
export function trimAddress(text: string, start: number, to: number): number {
  let open = 0;
  for (let at = start; at < to; at++)
    if (text[at] === '(') open++;
    else if (text[at] === ')') open--;
  let end = to;
  for (; end > start; end--) {
    const char = text[end - 1]!;
    if (char === ')') {
      if (open >= 0) break;
      open++;
    } else if (!'?!.,:*_~\'"`;|'.includes(char)) break;
  }
  return end;
}

export function unescapeMarks(text: string): string {
  return decodeEntities(text.replace(/\\([!-/:-@[-`{-~])/g, '$1'));
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  bull: '•',
  middot: '·',
  times: '×',
  divide: '÷',
  plusmn: '±',
  deg: '°',
  micro: 'µ',
  para: '¶',
  sect: '§',
  euro: '€',
  pound: '£',
  yen: '¥',
  cent: '¢',
  larr: '←',
  uarr: '↑',
  rarr: '→',
  darr: '↓',
  harr: '↔',
  le: '≤',
  ge: '≥',
  ne: '≠',
  asymp: '≈',
  infin: '∞',
  check: '✓',
  laquo: '«',
  raquo: '»',
};

export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,8}));/g, (entity, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? NAMED[name]! : entity;
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : '\ufffd';
  });
}
