// Finds where a fragment stands in its file: some agents send only the part that they change,
// without its line. It is searched for in the file as the user has it, one file at a time, and its
// line is kept as long as the fragment.
import { isAbsolute } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ToolContent } from '../../session/events/content';
import { plainEnds } from './lineEnds';
import { isBelow, isInsideRoots, realTarget, realTargets } from './roots';
import { onlyPlaceOf } from './textEdit';

export type FileChange = Extract<ToolContent, { type: 'diff' }>;

/** Bytes. */
const MAX_FILE_BYTES = 500_000;
/** Longer texts are only compared with the whole file. */
const MAX_PART_CHARS = 100_000;
const MAX_WAITING = 500;

interface Wanted {
  readonly change: FileChange;
  /** The file has the text after the change. */
  readonly isMade: boolean;
  readonly found: () => void;
}

export class FragmentLines {
  readonly #read: (path: string, maxBytes: number) => Promise<string>;
  /** Undefined: not known, or not yet. */
  readonly #lines = new WeakMap<FileChange, number | undefined>();
  readonly #waiting = new Map<string, { readonly roots: readonly string[]; readonly wanted: Wanted[] }>();
  #count = 0;
  #isReading = false;

  constructor(read: (path: string, maxBytes: number) => Promise<string>) {
    this.#read = read;
  }

  /**
   * Returns the 1-based line of the file where the replaced text begins; undefined if unknown,
   * pending, or not unique.
   * @param roots only files in these folders are read
   * @param found called when a line becomes known
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
    // Spelling first: looking up a path on another machine would send the user's name there.
    const folders = [...roots, ...(await realTargets(roots))];
    if (!folders.some((root) => isBelow(root, path))) return undefined;
    if (!(await isInsideRoots(await realTarget(path), roots))) return undefined;
    return plainEnds(await this.#read(path, MAX_FILE_BYTES));
  }
}

function lineIn(text: string, { oldText = '', newText }: FileChange, isMade: boolean): number | undefined {
  const [first, second] = isMade ? [newText, oldText] : [oldText, newText];
  const placeOf = (part: string): number | undefined =>
    part.length > MAX_PART_CHARS && part !== text ? undefined : onlyPlaceOf(text, part);
  const at = placeOf(plainEnds(first)) ?? placeOf(plainEnds(second));
  if (at === undefined) return undefined;
  let line = 1;
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', end + 1)) line++;
  return line;
}
