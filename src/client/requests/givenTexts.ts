// What an agent was given of files when it read them, and what it wrote: the whole text that it
// gives back later is a change of that, whatever the user has made of the file since.
import { createHash } from 'node:crypto';
import { compareLines } from '../../changes/lines/hunks';
import { placeHunks, withHunks } from '../../changes/lines/placeHunks';
import { Slices } from '../../changes/lines/slices';
import { textLines } from '../../changes/lines/textLines';
import type { GivenText } from '../ports/ports';
import { plainEnds } from './lineEnds';

/** Characters of all texts that are remembered; of older ones, the digest is. */
const MAX_CHARS = 32 * 1024 * 1024;
const MAX_FILES = 10_000;

export class GivenTexts {
  /** The oldest first. */
  readonly #texts = new Map<string, GivenText>();
  #chars = 0;

  /** @param key of a file and the session that reads or writes it */
  remember(key: string, text: string): void {
    this.#set(key, givenText(text));
  }

  /**
   * Remembers some lines of a file: of the others, the agent knows what it was given before.
   * @param text of the whole file
   * @param line 1-based first line; @param limit number of lines, absent: all that follow
   */
  async rememberLines(key: string, text: string, line: number, limit = Number.POSITIVE_INFINITY): Promise<void> {
    const given = this.#texts.get(key);
    if (!given) this.remember(key, text);
    else if (given.text !== undefined)
      this.#set(key, givenText(await withLinesOf(given.text, plainText(text), line - 1, line - 1 + limit)));
  }

  #set(key: string, given: GivenText): void {
    this.#forget(key);
    this.#texts.set(key, given);
    this.#chars += given.text?.length ?? 0;
    for (const [old, { digest, text: kept }] of this.#texts) {
      if (this.#chars <= MAX_CHARS) break;
      if (kept === undefined) continue;
      this.#texts.set(old, { digest });
      this.#chars -= kept.length;
    }
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > MAX_FILES && oldest !== undefined) this.#forget(oldest);
  }

  of(key: string): GivenText | undefined {
    return this.#texts.get(key);
  }

  #forget(key: string): void {
    this.#chars -= this.#texts.get(key)?.text?.length ?? 0;
    this.#texts.delete(key);
  }
}

/** Line ends and a byte order mark apart, which agents may leave out. */
export function givenText(text: string): GivenText {
  const plain = plainText(text);
  return { digest: digestOf(plain), text: plain };
}

/**
 * Returns what a file becomes when an agent writes it: what it wrote where the file is as it was
 * given, else both changes where they are of different lines. Plain line ends, no byte order mark.
 * @param present the text of the file as the user sees it
 * @returns undefined where the agent would overwrite what has changed since
 */
export async function mergeWritten(
  written: string,
  present: string,
  given: GivenText | undefined,
): Promise<string | undefined> {
  const [theirs, ours] = [plainText(written), plainText(present)];
  if (!given || theirs === ours || given.digest === digestOf(ours)) return theirs;
  if (given.text === undefined) return undefined;
  const slices = new Slices();
  const base = await textLines(Buffer.from(given.text), slices);
  const edited = await textLines(Buffer.from(theirs), slices);
  const other = await textLines(Buffer.from(ours), slices);
  if (!base || !edited || !other) return undefined;
  const edits = await compareLines(base, edited, slices);
  const { placed, blocked } = await placeHunks(
    edits,
    await compareLines(base, other, slices),
    { edited, other },
    slices,
  );
  return blocked.length > 0 ? undefined : (await withHunks(other, edited, placed, slices)).toString('utf8');
}

/** Returns a text with the changes to another one that lie between two lines of that, counted from 0. */
async function withLinesOf(text: string, other: string, from: number, to: number): Promise<string> {
  const slices = new Slices();
  const a = await textLines(Buffer.from(text), slices);
  const b = await textLines(Buffer.from(other), slices);
  if (!a || !b) return text;
  const seen = (await compareLines(a, b, slices)).filter(
    ({ bStart, bCount }) => bStart >= from && bStart + bCount <= to,
  );
  return (await withHunks(a, b, seen, slices)).toString('utf8');
}

function plainText(text: string): string {
  return plainEnds(text.startsWith('\ufeff') ? text.slice(1) : text);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
