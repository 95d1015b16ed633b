// Finds where a fragment stands in its file: some agents send only the part that they change,
// without its line. It is searched for in the file as the user has it, one file at a time, and its
// line is kept as long as the fragment.
import { isAbsolute } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ToolContent } from '../../session/events/content';
import { onlyPlaceOf } from './onlyPlace';
import { isBelow, isInsideRoots, realTarget, realTargets } from './roots';

/** A change to a file, by the texts before and after it. */
export type FileChange = Extract<ToolContent, { type: 'diff' }>;

/** Larger files are not read for it, in bytes. */
const MAX_FILE_BYTES = 500_000;
/** A longer text is only looked for as the whole of a file, in characters. */
const MAX_PART_CHARS = 100_000;
/** Parts that wait for their files; of more, no lines are known. */
const MAX_WAITING = 500;

interface Wanted {
  readonly change: FileChange;
  /** The change was made: the file has the text after it. */
  readonly isMade: boolean;
  readonly found: () => void;
}

export class FragmentLines {
  readonly #read: (path: string, maxBytes: number) => Promise<string>;
  /** The line where a part begins; undefined: not known, or not yet. */
  readonly #lines = new WeakMap<FileChange, number | undefined>();
  /** By path. */
  readonly #waiting = new Map<string, { readonly roots: readonly string[]; readonly wanted: Wanted[] }>();
  #count = 0;
  #isReading = false;

  /**
   * @param read the text of a file that has at most so many bytes, at an absolute path; rejects
   * where there is none
   */
  constructor(read: (path: string, maxBytes: number) => Promise<string>) {
    this.#read = read;
  }

  /**
   * Returns the line of the file, counted from 1, where the text begins that a change replaces.
   * Undefined: it is not known, or is looked for. A text that stands there more than once has no
   * line.
   * @param isMade the change was made
   * @param roots only files inside of these folders are read
   * @param found called where a line becomes known
   */
  lineOf(change: FileChange, isMade: boolean, roots: readonly string[], found: () => void): number | undefined {
    if (this.#lines.has(change)) return this.#lines.get(change);
    if (change.oldText === undefined) return 1;
    if (this.#count >= MAX_WAITING || !isAbsolute(change.path)) return undefined;
    this.#lines.set(change, undefined);
    this.#count++;
    const same = this.#waiting.get(change.path);
    if (same) same.wanted.push({ change, isMade, found });
    else this.#waiting.set(change.path, { roots, wanted: [{ change, isMade, found }] });
    if (!this.#isReading) void this.#readAll();
    return undefined;
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    for (const [path, { roots, wanted }] of this.#waiting) {
      const text = await this.#textOf(path, roots).catch(() => undefined);
      this.#waiting.delete(path);
      this.#count -= wanted.length;
      if (text === undefined) continue;
      for (const { change, isMade, found } of wanted) {
        await setImmediate();
        const line = lineIn(text, change, isMade);
        if (line === undefined) continue;
        this.#lines.set(change, line);
        found();
      }
    }
    this.#isReading = false;
  }

  async #textOf(path: string, roots: readonly string[]): Promise<string | undefined> {
    // By its spelling first: to look up a path on another machine would already send the user's
    // name there.
    const folders = [...roots, ...(await realTargets(roots))];
    if (!folders.some((root) => isBelow(root, path))) return undefined;
    if (!(await isInsideRoots(await realTarget(path), roots))) return undefined;
    return withPlainEnds(await this.#read(path, MAX_FILE_BYTES));
  }
}

function lineIn(text: string, { oldText = '', newText }: FileChange, isMade: boolean): number | undefined {
  const [first, second] = isMade ? [newText, oldText] : [oldText, newText];
  const placeOf = (part: string): number | undefined =>
    part.length > MAX_PART_CHARS && part !== text ? undefined : onlyPlaceOf(text, part);
  const at = placeOf(withPlainEnds(first)) ?? placeOf(withPlainEnds(second));
  if (at === undefined) return undefined;
  let line = 1;
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', end + 1)) line++;
  return line;
}

function withPlainEnds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
