// Splits transcripts into segments, one per user message, and pairs the segments of two
// transcripts.
import { bareTextOf } from '../model/entryText';
import type { Entry, MessageEntry } from '../model/state';
import { ToolMatcher } from './toolMatcher';

export interface Segment {
  readonly user: MessageEntry | undefined;
  readonly entries: Entry[];
}

export interface KnownSegment extends Segment {
  readonly agent: SegmentText;
  readonly thought: SegmentText;
  readonly tools: ToolMatcher;
}

export function segmentsOf(entries: readonly Entry[]): Segment[] {
  const segments: Segment[] = [{ user: undefined, entries: [] }];
  for (const entry of entries) {
    if (entry.kind === 'user') segments.push({ user: entry, entries: [] });
    else segments.at(-1)?.entries.push(entry);
  }
  return segments;
}

export function knownSegment(segment: Segment): KnownSegment {
  const known = { ...segment, agent: new SegmentText(), thought: new SegmentText(), tools: new ToolMatcher() };
  for (const entry of segment.entries) {
    if (entry.kind === 'agent' || entry.kind === 'thought') known[entry.kind].add(entry);
    else if (entry.kind === 'tool') known.tools.add(entry);
  }
  return known;
}

/**
 * The segments that correspond to a replayed one, first and last inclusive: more than one if the
 * agent joins messages.
 */
export interface Pairing {
  readonly first: number;
  readonly last: number;
}

/**
 * Limit for comparing all user messages of both sides (their product). Beyond it, each is paired
 * with the next equal one.
 */
const MAX_PAIRS = 1_000_000;

export function pairSegments(known: readonly Segment[], repeated: readonly Segment[]): (Pairing | undefined)[] {
  const words = known.map(({ user }) => (user ? comparableText(user) : ''));
  const wanted = repeated.map(({ user }) => (user ? comparableText(user) : ''));
  const same = pairSame(known, words, repeated, wanted);
  let next = 1;
  /** The last replayed message, and how much of it was matched. */
  let begun: { readonly index: number; length: number } | undefined;
  return wanted.map((text, index): Pairing | undefined => {
    if (text === '') return undefined;
    const end = same.find((place, at) => at > index && place !== undefined);
    let first = same[index];
    if (first === undefined) {
      const rest = begun && words[begun.index]?.slice(begun.length);
      if (begun && rest !== undefined && rest !== '' && rest.startsWith(text)) {
        begun.length += text.length;
        return { first: begun.index, last: begun.index };
      }
      first = findSimilar(words, text, next, end);
    }
    if (first === undefined) return undefined;
    const last = Math.min(lastJoined(words, text, first), (end ?? words.length) - 1);
    begun = { index: last, length: Math.min(words[last]?.length ?? 0, text.length) };
    next = last + 1;
    return { first, last };
  });
}

/** Pairs as many equal messages as possible, preferring those with the same answers. */
function pairSame(
  known: readonly Segment[],
  words: readonly string[],
  repeated: readonly Segment[],
  wanted: readonly string[],
): (number | undefined)[] {
  const score = (theirs: number, ours: number): number => {
    const [one, other, here] = [repeated[theirs], known[ours], words[ours]];
    if (!one || !other || !here || !wanted[theirs]?.endsWith(here)) return 0;
    // Agents prepend their own text to a message.
    if (wanted[theirs] !== here) return agrees(other, one, false) ? 4 : 0;
    const isNamed = one.user?.messageId !== undefined && one.user.messageId === other.user?.messageId;
    return 1 + (agrees(other, one, ours === known.length - 1) ? 4 : 0) + (isNamed ? 8 : 0);
  };
  const pairs: (number | undefined)[] = wanted.map(() => undefined);
  // Fast path: both transcripts nearly always start with the same messages.
  let start = 1;
  while (start < wanted.length && start < words.length - 1 && score(start, start) > 1) pairs[start] = start++;
  const [rows, columns] = [wanted.length - start + 1, words.length - start + 1];
  if (rows <= 1 || columns <= 1) return pairs;
  if (rows * columns > MAX_PAIRS) return pairNext(pairs, words, wanted, start);
  const best = new Uint32Array(rows * columns);
  const at = (theirs: number, ours: number): number => best[(theirs - start) * columns + (ours - start)] ?? 0;
  for (let theirs = wanted.length - 1; theirs >= start; theirs--) {
    for (let ours = words.length - 1; ours >= start; ours--) {
      const pairScore = score(theirs, ours);
      const paired = pairScore > 0 ? pairScore + at(theirs + 1, ours + 1) : 0;
      best[(theirs - start) * columns + (ours - start)] = Math.max(paired, at(theirs + 1, ours), at(theirs, ours + 1));
    }
  }
  for (let theirs = start, ours = start; theirs < wanted.length && ours < words.length; ) {
    const pairScore = score(theirs, ours);
    if (pairScore > 0 && at(theirs, ours) === pairScore + at(theirs + 1, ours + 1)) pairs[theirs++] = ours++;
    else if (at(theirs, ours) === at(theirs, ours + 1)) ours++;
    else theirs++;
  }
  return pairs;
}

function pairNext(
  pairs: (number | undefined)[],
  words: readonly string[],
  wanted: readonly string[],
  start: number,
): (number | undefined)[] {
  const places = new Map<string, number[]>();
  for (let ours = words.length - 1; ours >= start; ours--) {
    const text = words[ours] ?? '';
    if (text !== '') places.set(text, [...(places.get(text) ?? []), ours]);
  }
  let next = start;
  for (let theirs = start; theirs < wanted.length; theirs++) {
    const list = places.get(wanted[theirs] ?? '') ?? [];
    let ours = list.pop();
    while (ours !== undefined && ours < next) ours = list.pop();
    if (ours === undefined) continue;
    pairs[theirs] = ours;
    next = ours + 1;
  }
  return pairs;
}

/**
 * Returns what copies of a message have in common: text without whitespace, or a summary of its
 * content.
 */
export function comparableText(message: Pick<MessageEntry, 'content'>): string {
  const text = bareTextOf(message);
  if (text !== '') return text;
  return message.content
    .map((block) => ('uri' in block && block.uri) || (block.type === 'text' ? '' : block.type))
    .join();
}

/** Returns the first message from `next` to `end` that contains the wanted text or is its start. */
function findSimilar(words: readonly string[], wanted: string, next: number, end = words.length): number | undefined {
  for (let index = next; index < end; index++) {
    const text = words[index] ?? '';
    const isLong = Math.min(text.length, wanted.length) >= MIN_MATCH_CHARS;
    if (isLong ? text.startsWith(wanted) || wanted.includes(text) : isJoined(words, wanted, index)) return index;
    // The agent's own preamble before a short first message.
    if (index === next && text !== '' && wanted.endsWith(text)) return index;
  }
  return undefined;
}

function isJoined(words: readonly string[], wanted: string, index: number): boolean {
  const text = words[index] ?? '';
  return text !== '' && wanted.startsWith(text) && lastJoined(words, wanted, index) > index;
}

function lastJoined(words: readonly string[], wanted: string, first: number): number {
  let last = first;
  const begin = words[first] ?? '';
  let from = wanted.endsWith(begin) ? wanted.length : Math.max(0, wanted.indexOf(begin)) + begin.length;
  for (let next = words[last + 1]; next && from < wanted.length; next = words[last + 1]) {
    const at = next.length < MIN_MATCH_CHARS && !wanted.startsWith(next, from) ? -1 : wanted.indexOf(next, from);
    if (at < 0) break;
    from = at + next.length;
    last++;
  }
  return last;
}

function agrees(known: Segment | undefined, repeated: Segment, isLast: boolean): boolean {
  const theirs = repeated.entries.find(isContent);
  if (!known?.entries.some(isContent)) return isLast || !theirs;
  if (!theirs) return true;
  return known.entries.some((ours) => {
    if (ours.kind === 'tool' && theirs.kind === 'tool')
      return ours.title === theirs.title && ours.toolKind === theirs.toolKind;
    if (ours.kind !== 'agent' || theirs.kind !== 'agent') return false;
    const [one, other] = [bareTextOf(ours), bareTextOf(theirs)];
    return one.includes(other) || other.includes(one);
  });
}

function isContent({ kind }: Entry): boolean {
  return kind === 'agent' || kind === 'tool';
}

/** Non-whitespace characters. Shorter texts are too common to identify a message. */
const MIN_MATCH_CHARS = 8;

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Text of one role between two user messages, and which parts were matched. */
class SegmentText {
  readonly #messages: { readonly start: number; readonly entry: MessageEntry }[] = [];
  readonly #pieces: string[] = [];
  #length = 0;
  #text: string | undefined;
  #unmatched: Span[] = [];
  #cursor = 0;

  add(entry: MessageEntry): void {
    const bare = bareTextOf(entry);
    if (bare === '') return;
    this.#messages.push({ start: this.#length, entry });
    this.#pieces.push(bare);
    this.#length += bare.length;
    this.#unmatched = [{ start: 0, end: this.#length }];
  }

  /** Finds a whole text: right after the last match if possible, else behind it, else before it. */
  find(words: string, strict: boolean): MessageEntry | undefined {
    const text = this.#joinedText();
    const mayContinue = !strict || this.#cursor > 0;
    if (mayContinue && text.startsWith(words, this.#cursor) && this.#isUnmatched(this.#cursor, words.length))
      return this.#markMatched(this.#cursor, words.length);
    const at = words.length < MIN_MATCH_CHARS ? this.#findMessage(words, strict) : this.#findIn(words);
    return at === undefined ? undefined : this.#markMatched(at, words.length);
  }

  /** Finds the beginning of a text whose end is missing here. */
  findBeginning(words: string): { readonly entry: MessageEntry; readonly length: number } | undefined {
    const text = this.#joinedText();
    const last = this.#messages.at(-1);
    const open = this.#unmatched.at(-1);
    if (!last || open?.end !== this.#length) return undefined;
    const overlap = this.#overlapWith(words, open);
    if (overlap > 0) {
      this.#markMatched(this.#length - overlap, overlap);
      return { entry: last.entry, length: overlap };
    }
    const end = text.slice(Math.max(open.start, last.start));
    const at = end.length < MIN_MATCH_CHARS ? -1 : words.indexOf(end);
    if (at < 0) return undefined;
    this.#markMatched(this.#length - end.length, end.length);
    return { entry: last.entry, length: at + end.length };
  }

  /** Returns how many characters at the end of this text `words` starts with. */
  #overlapWith(words: string, { start }: Span): number {
    const text = this.#joinedText();
    const head = words.slice(0, MIN_MATCH_CHARS);
    for (let at = text.indexOf(head, start); at >= 0; at = text.indexOf(head, at + 1))
      if (words.startsWith(text.slice(at))) return this.#length - at;
    const starts = [...(start === this.#cursor ? [start] : []), ...this.#messages.map((one) => one.start)];
    const from = starts.filter((one) => one >= start && this.#length - one < MIN_MATCH_CHARS);
    const at = from.find((one) => words.startsWith(text.slice(one)));
    return at === undefined ? 0 : this.#length - at;
  }

  #joinedText(): string {
    this.#text ??= this.#pieces.join('');
    return this.#text;
  }

  #isUnmatched(start: number, length: number): boolean {
    return this.#unmatched.some((span) => span.start <= start && start + length <= span.end);
  }

  #findMessage(words: string, strict: boolean): number | undefined {
    const text = this.#joinedText();
    return this.#messages.find(({ start }, index) => {
      const length = (this.#messages[index + 1]?.start ?? this.#length) - start;
      if (strict && length !== words.length) return false;
      return text.startsWith(words, start) && this.#isUnmatched(start, words.length);
    })?.start;
  }

  #findIn(words: string): number | undefined {
    const text = this.#joinedText();
    const ahead = this.#unmatched.filter(({ end }) => end > this.#cursor);
    const behind = this.#unmatched.filter(({ end }) => end <= this.#cursor);
    for (const { start, end } of [...ahead, ...behind]) {
      const at = text.slice(start, end).indexOf(words);
      if (at >= 0) return start + at;
    }
    return undefined;
  }

  #markMatched(start: number, length: number): MessageEntry | undefined {
    const end = start + length;
    this.#unmatched = this.#unmatched.flatMap((span) => {
      if (span.end <= start || span.start >= end) return [span];
      const before = { start: span.start, end: start };
      const after = { start: end, end: span.end };
      return [before, after].filter((one) => one.start < one.end);
    });
    this.#cursor = Math.max(this.#cursor, end);
    return this.#messages.findLast((one) => one.start <= start)?.entry;
  }
}
