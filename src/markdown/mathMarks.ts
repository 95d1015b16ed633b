// Finds formulas: `$…$` by pandoc's rule, `$$…$$`, `math` fences, `\(…\)` and `\[…\]` around TeX.

/** Maximum characters of a formula. */
const MAX_BLOCK = 4_000;
const MAX_INLINE = 1_000;

const CLOSERS: Readonly<Record<string, string>> = { $: '$', $$: '$$', '\\(': '\\)', '\\[': '\\]' };

const TEX = new RegExp(
  [
    /\\[a-zA-Z]{2}/,
    /(?:\b[a-zA-Z]|[\d)}\]])[_^]/,
    /[\w)}\]'!] {0,4}[=<>] {0,4}[\w({[\\-]/,
    /(?:\b[a-zA-Z]|[\d)}\]'!]) {0,4}[-+*/] {0,4}(?:[a-zA-Z]\b|[\d({[\\])/,
    /^\s{0,4}-?(?:[a-zA-Z]'?|\d{1,9}[a-zA-Z])\s{0,4}$/,
  ]
    .map(({ source }) => source)
    .join('|'),
);
const WORDS = /[a-z]{3} +[a-z]{3}/i;
const MARKS = /[\\^_={}]/;
const VARIABLE = /^(?:\{|[a-zA-Z]{2})|[^\w)}\]'!|]$/;

export function mathEnd(text: string, at: number): number | undefined {
  const open = openingAt(text, at);
  const close = open && CLOSERS[open];
  if (!close) return undefined;
  const from = at + open.length;
  const to = findClose(text, from, open, close);
  if (to === undefined) return undefined;
  const tex = text.slice(from, to);
  const end = to + close.length;
  return !tex.includes('`') && isMath(open, tex, text, at, end) ? end : undefined;
}

function openingAt(text: string, at: number): string {
  if (text[at] !== '$') return text.slice(at, at + 2);
  return text[at + 1] === '$' ? '$$' : '$';
}

/** Only the first closing mark is considered: looking for later ones would be quadratic. */
function findClose(text: string, from: number, open: string, close: string): number | undefined {
  const limit = Math.min(text.length, from + MAX_INLINE);
  for (let at = from; at < limit; at++) {
    const char = text[at];
    if (char !== '$' && char !== '\\') continue;
    if (text.startsWith(close, at)) return at;
    if (char === '$' || text.startsWith(open, at)) return undefined;
    at++;
  }
  return undefined;
}

function isMath(open: string, tex: string, text: string, at: number, end: number): boolean {
  if (tex.trim() === '') return false;
  const isPadded = tex !== tex.trim();
  if (open === '$$') return !isPadded || TEX.test(tex);
  if (open !== '$') return TEX.test(tex);
  if (isPadded || /[a-zA-Z\d]/.test(text[at - 1] ?? '') || (WORDS.test(tex) && !MARKS.test(tex))) return false;
  const after = text[end] ?? '';
  return !/\d/.test(after) && !(/[a-zA-Z_{]/.test(after) && VARIABLE.test(tex));
}

const MARKS_IN = /\\[^\n]|\$\$|\n[ \t>]*\n/g;
const MARKS_IN_NESTED = /\\[^\n]|\$\$|\n[ \t>]*\n|\n(?=[^\s>])/g;
const LINE_END = /[ \t]*(?:\n|$)/y;

const FENCE = /(`{3,}|~{3,})[ \t]*math[ \t]*(?=\n)/y;

/** Returns the end of a block formula, whose closing mark must end a line before a blank one. */
export function mathBlockEnd(source: string, at: number, isNested: boolean): number | undefined {
  FENCE.lastIndex = at;
  const fence = FENCE.exec(source);
  if (fence) return fenceEnd(source, at + fence[0].length, fence[1]!, isNested);
  const open = source.slice(at, at + 2);
  if (open !== '$$' && open !== '\\[') return undefined;
  const close = CLOSERS[open]!;
  const from = at + open.length;
  const newline = source.indexOf('\n', from);
  const first = source.slice(from, newline === -1 ? source.length : newline);
  if (!first.includes(close) && first.trim() !== '' && !TEX.test(first)) return undefined;
  const marks = isNested ? MARKS_IN_NESTED : MARKS_IN;
  marks.lastIndex = from;
  for (let mark = marks.exec(source); mark && mark.index - from <= MAX_BLOCK; mark = marks.exec(source)) {
    if (mark[0].startsWith('\n') || (mark[0] === open && open !== close)) return undefined;
    if (mark[0] !== close) continue;
    const tex = source.slice(from, mark.index);
    LINE_END.lastIndex = mark.index + close.length;
    const isBlock = LINE_END.test(source) && (open === '$$' || TEX.test(tex));
    return isBlock ? mark.index + close.length : undefined;
  }
  // The closing mark may have arrived partially.
  return source.length - from > MAX_BLOCK + close.length ? undefined : Number.POSITIVE_INFINITY;
}

function fenceEnd(source: string, from: number, mark: string, isNested: boolean): number | undefined {
  const close = `[ \\t>]${isNested ? '+' : '*'}${mark}${mark[0]}*[ \\t]*(?=\\n|$)`;
  const end = new RegExp(isNested ? `\\n(?:${close}|(?=[^\\s>]))` : `\\n${close}`);
  const found = end.exec(source.slice(from, from + MAX_BLOCK));
  if (found) return found[0] === '\n' ? undefined : from + found.index + found[0].length;
  return source.length - from > MAX_BLOCK ? undefined : Number.POSITIVE_INFINITY;
}

export function texOf(source: string): string {
  if (isFence(source)) return source.slice(source.indexOf('\n'), source.lastIndexOf('\n')).trim();
  const size = isDisplayed(source) || source[0] === '\\' ? 2 : 1;
  return source.slice(size, -size).trim();
}

export function isDisplayed(source: string): boolean {
  return source.startsWith('$$') || source.startsWith('\\[') || isFence(source);
}

function isFence(source: string): boolean {
  return /^[`~]/.test(source);
}
