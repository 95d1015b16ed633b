// Texts of files that an agent has read or written. A whole text that it writes later counts as a
// change to that text, even if the user has edited the file since.
import { createHash } from 'node:crypto';
import { compareLines, textLines } from '../../changes/lines/hunks';
import { placeHunks, withHunks } from '../../changes/lines/placeHunks';
import { Slices } from '../../changes/lines/slices';
import type { GivenText } from '../ports/ports';
import { plainText } from './lineEnds';

/** Of older texts, only the digest is kept. */
const MAX_CHARS = 32 * 1024 * 1024;
const MAX_FILES = 10_000;

export class GivenTexts {
  readonly #texts = new Map<string, GivenText>();
  #chars = 0;

  remember(key: string, text: string): void {
    this.#set(key, givenText(text));
  }

  /** The agent knows the other lines from earlier. @param line 1-based */
  async rememberLines(key: string, text: string, line: number, limit = Number.POSITIVE_INFINITY): Promise<void> {
    const previous = this.#texts.get(key);
    if (!previous) this.remember(key, text);
    else if (previous.text !== undefined)
      this.#set(key, givenText(await withLinesOf(previous.text, plainText(text), line - 1, line - 1 + limit)));
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

/** Ignores line ends and a byte order mark, which agents may omit. */
export function givenText(text: string): GivenText {
  const plain = plainText(text);
  return { digest: digestOf(plain), text: plain };
}

/**
 * Returns the file after an agent's write: the agent's text if the file is unchanged since it was
 * read, else both changes, if their lines differ. Plain line ends, no byte order mark.
 * @param present text as the user sees it
 * @returns undefined if the agent would overwrite newer changes
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

/** Lines are 0-based. */
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

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
