// Splits the text of a block into spans: CommonMark with GFM's strikethrough, autolinks and
// footnotes, and the attribute-less HTML tags that agents write. Examines marks a bounded number of
// times and leaves spans over the budget as text, so lexing and drawing are linear.
import { decodeEntities, ESCAPABLE, MAX_ADDRESS, readTarget, trimAddress, unescapeMarks } from './addresses';
import { mathEnd } from './mathMarks';

export type Span =
  | string
  | { readonly type: 'strong' | 'em' | 'del'; readonly spans: readonly Span[] }
  | { readonly type: 'code'; readonly text: string }
  /** A formula including delimiters. */
  | { readonly type: 'math'; readonly source: string }
  | { readonly type: 'break' }
  | { readonly type: 'link'; readonly href: string; readonly spans: readonly Span[] }
  | { readonly type: 'image'; readonly href: string; readonly alt: string }
  | { readonly type: 'tag'; readonly tag: InlineTag; readonly spans: readonly Span[] }
  | { readonly type: 'note'; readonly label: string };

export const INLINE_TAGS = ['b', 'i', 'ins', 'kbd', 'mark', 's', 'small', 'strong', 'sub', 'sup', 'u'] as const;
export type InlineTag = (typeof INLINE_TAGS)[number];

export interface SpanBudget {
  spans: number;
  /** Marks and parts examined: a backstop for unforeseen cases. */
  steps: number;
}

/** Laying these out takes a few milliseconds, and several pieces are drawn in one frame. */
const MAX_SPANS = 400;
const MAX_STEPS = 200_000;
const TARGET_STEPS = 32;
const MAX_DEPTH = 8;

const SPECIAL = /[\\`*_~[\]!<&\n:w$]/g;
const PUNCTUATION = /[\p{P}\p{S}]/u;
/** Written without spaces, so delimiters inside a sentence touch words. */
const CJK = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]/u;
const SPACE = /\s/;
const ENTITY = /&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z]{2,8});/y;
const AUTOLINK = /<([a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]*)>/y;
const EMAIL = /<([\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\w.-]{1,255})>/y;
const BREAK = /<br\s{0,9}\/?>/iy;
const TAG = new RegExp(`<(/?)(${INLINE_TAGS.join('|')})>`, 'iy');
const NOTE = /\[\^([\w-]{1,64})\](?!\()/y;
const SCHEME = /https?:\/\//iy;
const ADDRESS_END = /[\s<]/g;

export function createBudget(): SpanBudget {
  return { spans: MAX_SPANS, steps: MAX_STEPS };
}

export function lexInline(text: string, budget = createBudget()): Span[] {
  return new InlineLexer(text, budget).run();
}

interface Part {
  text: string;
  span: Exclude<Span, string> | undefined;
  depth: number;
  inner: Part | undefined;
  previous: Part | undefined;
  next: Part | undefined;
}

interface Delimiter {
  readonly part: Part;
  readonly char: string;
  readonly length: number;
  readonly order: number;
  left: number;
  readonly opens: boolean;
  readonly closes: boolean;
  previous: Delimiter | undefined;
  next: Delimiter | undefined;
}

interface Bracket {
  readonly part: Part;
  readonly isImage: boolean;
  readonly delimiter: Delimiter | undefined;
  readonly from: number;
}

interface OpenTag {
  readonly part: Part;
  readonly name: string;
  readonly delimiter: Delimiter | undefined;
  readonly from: number;
}

class InlineLexer {
  readonly #text: string;
  readonly #budget: SpanBudget;
  readonly #first: Part = createPart('');
  #last = this.#first;
  #at = 0;
  #delimiter: Delimiter | undefined;
  #brackets: Bracket[] = [];
  readonly #tags: OpenTag[] = [];
  readonly #tagCounts = new Map<string, number>();
  #ticks: Map<number, number[]> | undefined;

  constructor(text: string, budget: SpanBudget) {
    this.#text = text;
    this.#budget = budget;
  }

  run(): Span[] {
    const text = this.#text;
    while (this.#at < text.length) {
      if (this.#budget.steps-- <= 0) {
        this.#take(text.length - this.#at);
        break;
      }
      SPECIAL.lastIndex = this.#at;
      const at = SPECIAL.exec(text)?.index ?? text.length;
      if (at > this.#at) this.#addText(text.slice(this.#at, at));
      this.#at = at;
      if (at < text.length && !this.#readMark(text[at]!)) this.#take(1);
    }
    this.#pair(undefined);
    return this.#collect(this.#first.next, undefined);
  }

  #readMark(char: string): boolean {
    switch (char) {
      case '\\':
        return this.#readMath() || this.#readEscape();
      case '$':
        return this.#readMath();
      case '`':
        return this.#readCode();
      case '*':
      case '_':
      case '~':
        return this.#readDelimiters(char);
      case '[':
        return this.#readNote() || this.#openBracket(1);
      case '!':
        if (this.#text[this.#at + 1] === '[') return this.#openBracket(2);
        return false;
      case ']':
        return this.#closeBracket();
      case '<':
        return this.#readTag() || this.#readAutolink();
      case '&':
        return this.#readEntity();
      case '\n':
        return this.#readNewline();
      default:
        return this.#readAddress(char);
    }
  }

  #readEscape(): boolean {
    const next = this.#text[this.#at + 1];
    if (next === '\n') {
      this.#at += 2;
      if (!this.#addSpan({ type: 'break' })) this.#addText('\n');
      return true;
    }
    if (next === undefined || !ESCAPABLE.test(next)) return false;
    this.#addText(next);
    this.#at += 2;
    return true;
  }

  #readMath(): boolean {
    const end = mathEnd(this.#text, this.#at);
    if (end === undefined) return false;
    const source = this.#text.slice(this.#at, end);
    this.#at = end;
    if (!this.#addSpan({ type: 'math', source })) this.#addText(source);
    return true;
  }

  #readCode(): boolean {
    const start = this.#at;
    const end = runEnd(this.#text, start);
    const length = end - start;
    this.#ticks ??= findTicks(this.#text);
    const places = this.#ticks.get(length) ?? [];
    while (places.length > 0 && places.at(-1)! < end) places.pop();
    const close = places.at(-1);
    if (close === undefined) {
      this.#take(length);
      return true;
    }
    let code = this.#text.slice(end, close).replaceAll('\n', ' ');
    if (code.startsWith(' ') && code.endsWith(' ') && code.trim() !== '') code = code.slice(1, -1);
    this.#at = close + length;
    if (!this.#addSpan({ type: 'code', text: code })) this.#addText(this.#text.slice(start, this.#at));
    return true;
  }

  #readDelimiters(char: string): boolean {
    const text = this.#text;
    const start = this.#at;
    const end = runEnd(text, start);
    const length = end - start;
    const part = this.#addPart(text.slice(start, end));
    this.#at = end;
    // Single tildes occur in revisions and paths.
    if (char === '~' && length !== 2) return true;
    const before = charBefore(text, start);
    const after = charAfter(text, end);
    const isSpaceAfter = after === '' || SPACE.test(after);
    const isSpaceBefore = before === '' || SPACE.test(before);
    const isMarkAfter = !isSpaceAfter && PUNCTUATION.test(after);
    const isMarkBefore = !isSpaceBefore && PUNCTUATION.test(before);
    const isLeft = !isSpaceAfter && (!isMarkAfter || isSpaceBefore || isMarkBefore || CJK.test(before));
    const isRight = !isSpaceBefore && (!isMarkBefore || isSpaceAfter || isMarkAfter || CJK.test(after));
    const opens = char === '_' ? isLeft && (!isRight || isMarkBefore) : isLeft;
    const closes = char === '_' ? isRight && (!isLeft || isMarkAfter) : isRight;
    if (!opens && !closes) return true;
    const delimiter: Delimiter = {
      part,
      char,
      length,
      order: start,
      left: length,
      opens,
      closes,
      previous: this.#delimiter,
      next: undefined,
    };
    if (this.#delimiter) this.#delimiter.next = delimiter;
    this.#delimiter = delimiter;
    return true;
  }

  #openBracket(length: number): boolean {
    const part = this.#addPart(this.#text.slice(this.#at, this.#at + length));
    this.#at += length;
    this.#brackets.push({ part, isImage: length === 2, delimiter: this.#delimiter, from: this.#at });
    return true;
  }

  #closeBracket(): boolean {
    const bracket = this.#brackets.pop();
    const target = bracket && readTarget(this.#text, this.#at + 1);
    if (bracket && this.#text[this.#at + 1] === '(') this.#budget.steps -= TARGET_STEPS;
    if (!bracket || !target) return false;
    const close = this.#at;
    this.#at = target.end;
    if (bracket.isImage) {
      const alt = plainText(this.#text.slice(bracket.from, close));
      this.#dropFrom(bracket);
      if (!this.#addSpan({ type: 'image', href: target.href, alt })) {
        this.#addText(this.#text.slice(bracket.from - 2, target.end));
      }
      return true;
    }
    this.#dropTags(bracket.from);
    this.#pair(bracket.delimiter);
    const depth = this.#depthOf(bracket.part.next, undefined);
    if (depth >= MAX_DEPTH || this.#budget.spans <= 0) {
      this.#addText(this.#text.slice(close, target.end));
      return true;
    }
    const spans = this.#collect(bracket.part.next, undefined);
    this.#cutAt(bracket.part);
    this.#addSpan({ type: 'link', href: target.href, spans }, depth + 1);
    // Links cannot contain links.
    this.#budget.steps -= this.#brackets.length;
    this.#brackets = this.#brackets.filter(({ isImage }) => isImage);
    return true;
  }

  #dropFrom({ part, delimiter, from }: Bracket): void {
    this.#cutAt(part);
    this.#dropTags(from);
    this.#delimiter = delimiter;
    if (delimiter) delimiter.next = undefined;
  }

  #cutAt(part: Part): void {
    this.#last = part.previous!;
    this.#last.next = undefined;
  }

  /** Reads a supported HTML tag; a closing one makes a span of the text since its opening tag. */
  #readTag(): boolean {
    const start = this.#at;
    BREAK.lastIndex = TAG.lastIndex = start;
    const lineBreak = BREAK.exec(this.#text);
    if (lineBreak) {
      this.#at += lineBreak[0].length;
      if (!this.#addSpan({ type: 'break' })) this.#addText(lineBreak[0]);
      return true;
    }
    const match = TAG.exec(this.#text);
    if (!match) return false;
    const name = match[2]!.toLowerCase() as InlineTag;
    if (match[1] === '') {
      const part = this.#addPart(match[0]);
      this.#at += match[0].length;
      this.#tags.push({ part, name, delimiter: this.#delimiter, from: this.#at });
      this.#tagCounts.set(name, (this.#tagCounts.get(name) ?? 0) + 1);
      return true;
    }
    return this.#closeTag(name, match[0].length);
  }

  #closeTag(name: InlineTag, length: number): boolean {
    if (!this.#tagCounts.get(name)) return false;
    let open = this.#popTag();
    while (open.name !== name) open = this.#popTag();
    // Delimiters opened inside a tag close with it.
    while ((this.#brackets.at(-1)?.from ?? 0) > open.from) this.#brackets.pop();
    this.#pair(open.delimiter);
    const depth = this.#depthOf(open.part.next, undefined);
    if (depth >= MAX_DEPTH || this.#budget.spans <= 0) return false;
    const spans = this.#collect(open.part.next, undefined);
    this.#cutAt(open.part);
    this.#addSpan({ type: 'tag', tag: name, spans }, depth + 1);
    this.#at += length;
    return true;
  }

  #popTag(): OpenTag {
    const open = this.#tags.pop()!;
    this.#tagCounts.set(open.name, this.#tagCounts.get(open.name)! - 1);
    return open;
  }

  #dropTags(from: number): void {
    while ((this.#tags.at(-1)?.from ?? 0) > from) this.#popTag();
  }

  #readNote(): boolean {
    NOTE.lastIndex = this.#at;
    const match = NOTE.exec(this.#text);
    if (!match || !this.#addSpan({ type: 'note', label: match[1]! })) return false;
    this.#at += match[0].length;
    return true;
  }

  #readAutolink(): boolean {
    AUTOLINK.lastIndex = EMAIL.lastIndex = this.#at;
    const address = AUTOLINK.exec(this.#text);
    const email = address ? null : EMAIL.exec(this.#text);
    const match = address ?? email;
    if (!match) return false;
    this.#addLink(email ? `mailto:${match[1]!}` : match[1]!, match[1]!, match[0]);
    this.#at += match[0].length;
    return true;
  }

  #readEntity(): boolean {
    ENTITY.lastIndex = this.#at;
    const match = ENTITY.exec(this.#text);
    if (!match) return false;
    this.#addText(decodeEntities(match[0]));
    this.#at += match[0].length;
    return true;
  }

  #readNewline(): boolean {
    const isBreak = this.#last.span === undefined && this.#last.text.endsWith('  ');
    if (this.#last.span === undefined) this.#last.text = this.#last.text.trimEnd();
    this.#at++;
    if (!isBreak || !this.#addSpan({ type: 'break' })) this.#addText('\n');
    return true;
  }

  #readAddress(char: string): boolean {
    const text = this.#text;
    let start = this.#at;
    let prefix = '';
    if (char === ':') {
      if (!text.startsWith('://', start)) return false;
      const scheme = /https?$/i.exec(text.slice(Math.max(0, start - 5), start));
      if (!scheme) return false;
      start -= scheme[0].length;
    } else {
      if (!text.startsWith('www.', start)) return false;
      prefix = 'http://';
    }
    const before = charBefore(text, start);
    if (/[\p{L}\p{N}]/u.test(before) || this.#brackets.some(({ isImage }) => !isImage)) return false;
    ADDRESS_END.lastIndex = start;
    const found = ADDRESS_END.exec(text)?.index ?? text.length;
    const end = trimAddress(text, start, Math.min(found, start + MAX_ADDRESS));
    SCHEME.lastIndex = start;
    const host = prefix ? start + 4 : start + (SCHEME.exec(text)?.[0].length ?? 0);
    if (end <= host || this.#last.span !== undefined) return false;
    const label = text.slice(start, end);
    const schemeLength = this.#at - start;
    // The scheme was already read as the end of the preceding text.
    if (schemeLength > 0) this.#last.text = this.#last.text.slice(0, -schemeLength);
    this.#at = end;
    this.#addLink(prefix + label, label, label);
    return true;
  }

  #addLink(href: string, label: string, source: string): void {
    const inLink = this.#brackets.some(({ isImage }) => !isImage);
    if (inLink || !this.#addSpan({ type: 'link', href, spans: [label] })) this.#addText(source);
  }

  #take(length: number): void {
    this.#addText(this.#text.slice(this.#at, this.#at + length));
    this.#at += length;
  }

  #addText(text: string): void {
    const last = this.#last;
    // Appends a mark as a separate part, since it can become the edge of a span.
    if (last.span === undefined && !last.inner && last !== this.#first && !this.#isMark(last)) last.text += text;
    else this.#addPart(text);
  }

  #isMark(part: Part): boolean {
    return [this.#delimiter, this.#brackets.at(-1), this.#tags.at(-1)].some((mark) => mark?.part === part);
  }

  #addPart(text: string): Part {
    const part = createPart(text);
    part.previous = this.#last;
    this.#last.next = part;
    this.#last = part;
    return part;
  }

  #addSpan(span: Exclude<Span, string>, depth = 1): boolean {
    if (this.#budget.spans <= 0) return false;
    this.#budget.spans--;
    const part = this.#addPart('');
    part.span = span;
    part.depth = depth;
    return true;
  }

  #pair(bottom: Delimiter | undefined): void {
    // Per kind of closer: no opener exists at or before this position.
    const floors = new Map<string, number>();
    const start = bottom?.order ?? -1;
    let closer = bottom ? bottom.next : this.#firstDelimiter();
    while (closer && this.#budget.steps-- > 0) {
      if (!closer.closes) {
        closer = closer.next;
        continue;
      }
      const kind = `${closer.char}${closer.length % 3}${closer.opens}`;
      const floor = floors.get(kind) ?? start;
      let opener = closer.previous;
      while (opener && opener.order > floor && !matches(opener, closer)) {
        opener = opener.previous;
        this.#budget.steps--;
      }
      if (!opener || opener.order <= floor) {
        floors.set(kind, closer.previous?.order ?? start);
        const next: Delimiter | undefined = closer.next;
        if (!closer.opens) unlink(closer);
        closer = next;
        continue;
      }
      closer = this.#join(opener, closer);
    }
    // Unmatched delimiters are text.
    if (bottom) bottom.next = undefined;
    this.#delimiter = bottom;
  }

  #firstDelimiter(): Delimiter | undefined {
    let first = this.#delimiter;
    while (first?.previous) first = first.previous;
    return first;
  }

  /** Creates a span from the parts between two delimiters. */
  #join(opener: Delimiter, closer: Delimiter): Delimiter | undefined {
    const isDel = closer.char === '~';
    const count = isDel ? closer.length : opener.left >= 2 && closer.left >= 2 ? 2 : 1;
    // Delimiters in between are unmatched.
    opener.next = closer;
    closer.previous = opener;
    const depth = this.#depthOf(opener.part.next, closer.part);
    if (depth >= MAX_DEPTH || this.#budget.spans <= 0) {
      const next = closer.next;
      this.#group(opener.part, closer.part);
      unlink(opener);
      unlink(closer);
      return next;
    }
    const spans = this.#collect(opener.part.next, closer.part);
    this.#budget.spans--;
    opener.left -= count;
    closer.left -= count;
    opener.part.text = opener.part.text.slice(count);
    closer.part.text = closer.part.text.slice(count);
    const part = createPart('');
    part.span = { type: isDel ? 'del' : count === 2 ? 'strong' : 'em', spans };
    part.depth = depth + 1;
    part.previous = opener.part;
    part.next = closer.part;
    opener.part.next = part;
    closer.part.previous = part;
    if (opener.left === 0) unlink(opener);
    if (closer.left > 0) return closer;
    const next = closer.next;
    unlink(closer);
    return next;
  }

  #depthOf(from: Part | undefined, to: Part | undefined): number {
    let depth = 0;
    for (let part = from; part && part !== to; part = part.next) {
      this.#budget.steps--;
      depth = Math.max(depth, part.depth);
    }
    return depth;
  }

  #group(first: Part, last: Part): void {
    const group = createPart('');
    group.inner = first;
    group.depth = MAX_DEPTH;
    group.previous = first.previous;
    group.next = last.next;
    if (first.previous) first.previous.next = group;
    if (last.next) last.next.previous = group;
    else this.#last = group;
    last.next = undefined;
  }

  #collect(from: Part | undefined, to: Part | undefined): Span[] {
    const spans: Span[] = [];
    const after: (Part | undefined)[] = [];
    let text = '';
    let part = from;
    for (;;) {
      if (!part || part === to) {
        if (after.length === 0) break;
        part = after.pop();
        continue;
      }
      this.#budget.steps--;
      if (part.inner) {
        after.push(part.next);
        part = part.inner;
        continue;
      }
      if (part.span === undefined) text += part.text;
      else {
        if (text) spans.push(text);
        text = '';
        spans.push(part.span);
      }
      part = part.next;
    }
    if (text) spans.push(text);
    return spans;
  }
}

function createPart(text: string): Part {
  return { text, span: undefined, depth: 0, inner: undefined, previous: undefined, next: undefined };
}

function unlink(one: Delimiter): void {
  if (one.previous) one.previous.next = one.next;
  if (one.next) one.next.previous = one.previous;
}

function matches(opener: Delimiter, closer: Delimiter): boolean {
  if (!opener.opens || opener.char !== closer.char) return false;
  if (closer.char === '~') return true;
  // If a run can both open and close, a match whose combined length is a multiple of three requires
  // both lengths to be.
  const both = opener.closes || closer.opens;
  return !both || (opener.length + closer.length) % 3 !== 0 || (opener.length % 3 === 0 && closer.length % 3 === 0);
}

function runEnd(text: string, start: number): number {
  let end = start;
  while (text[end] === text[start]) end++;
  return end;
}

function findTicks(text: string): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (let at = text.indexOf('`'); at !== -1; ) {
    const end = runEnd(text, at);
    const places = found.get(end - at);
    if (places) places.push(at);
    else found.set(end - at, [at]);
    at = text.indexOf('`', end);
  }
  for (const places of found.values()) places.reverse();
  return found;
}

function charBefore(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low <= 0xdfff ? text.slice(at - 2, at) : text.slice(Math.max(0, at - 1), at);
}

function charAfter(text: string, at: number): string {
  const high = text.charCodeAt(at);
  return text.slice(at, high >= 0xd800 && high <= 0xdbff ? at + 2 : at + 1);
}

function plainText(text: string): string {
  return unescapeMarks(text.replace(/[*_`~]/g, ''));
}
