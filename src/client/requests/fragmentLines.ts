// Locates fragments in their files: some agents send only the part that they change, without line
// number and complete lines. Searches the file as the user sees it, one file at a time, and caches
// the place with the fragment.
import { isAbsolute } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ToolContent } from '../../session/events/content';
import { plainEnds } from './lineEnds';
import { isBelow, isInsideRoots, realTarget, realTargets } from './roots';
import { onlyIndexOf } from './textEdit';

export type FileChange = Extract<ToolContent, { type: 'diff' }>;

const MAX_FILE_BYTES = 500_000;
/** Longer texts are only compared with the whole file. */
const MAX_PART_CHARS = 100_000;
const MAX_WAITING = 500;
const MAX_ADDED = 2000;

export interface FragmentPlace {
  /** 1-based. */
  readonly line: number;
  /** The change, extended to whole lines. */
  readonly whole: FileChange;
}

interface PendingLookup {
  readonly change: FileChange;
  readonly isMade: boolean;
  readonly found: () => void;
}

export class FragmentLines {
  readonly #read: (path: string, maxBytes: number) => Promise<string>;
  /** Undefined if unknown or pending. */
  readonly #places = new WeakMap<FileChange, FragmentPlace | undefined>();
  readonly #pendingByPath = new Map<string, { readonly roots: readonly string[]; readonly lookups: PendingLookup[] }>();
  #count = 0;
  #isReading = false;

  constructor(read: (path: string, maxBytes: number) => Promise<string>) {
    this.#read = read;
  }

  /**
   * Returns where the replaced text begins in the file; undefined if unknown, pending or ambiguous.
   * @param roots only files in these folders are read
   * @param found called when the place becomes known
   */
  locate(change: FileChange, isMade: boolean, roots: readonly string[], found: () => void): FragmentPlace | undefined {
    if (this.#places.has(change)) return this.#places.get(change);
    if (change.oldText === undefined) return { line: 1, whole: change };
    if (this.#count >= MAX_WAITING || !isAbsolute(change.path)) return undefined;
    this.#places.set(change, undefined);
    this.#count++;
    const pending = this.#pendingByPath.get(change.path);
    if (pending) pending.lookups.push({ change, isMade, found });
    else this.#pendingByPath.set(change.path, { roots, lookups: [{ change, isMade, found }] });
    if (!this.#isReading) void this.#readAll();
    return undefined;
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    const folders = new Map<readonly string[], readonly string[]>();
    for (const [path, { roots, lookups }] of this.#pendingByPath) {
      const all = folders.get(roots) ?? [...roots, ...(await realTargets(roots))];
      folders.set(roots, all);
      // Spelling first: a lookup on another machine would send it the user's name.
      const isHere = all.some((root) => isBelow(root, path));
      const text = isHere ? await this.#textOf(path, roots).catch(() => undefined) : undefined;
      this.#pendingByPath.delete(path);
      this.#count -= lookups.length;
      if (text === undefined) continue;
      for (const { change, isMade, found } of lookups) {
        await setImmediate();
        const place = placeIn(text, change, isMade);
        if (!place) continue;
        this.#places.set(change, place);
        found();
      }
    }
    this.#isReading = false;
  }

  async #textOf(path: string, roots: readonly string[]): Promise<string | undefined> {
    if (!(await isInsideRoots(await realTarget(path), roots))) return undefined;
    return plainEnds(await this.#read(path, MAX_FILE_BYTES));
  }
}

function placeIn(text: string, change: FileChange, isMade: boolean): FragmentPlace | undefined {
  const { oldText = '', newText } = change;
  for (const fragment of isMade ? [newText, oldText] : [oldText, newText]) {
    const part = plainEnds(fragment);
    const at = part.length > MAX_PART_CHARS && part !== text ? undefined : onlyIndexOf(text, part);
    if (at !== undefined) return { line: lineAt(text, at), whole: wholeLines(text, change, at, at + part.length) };
  }
  return undefined;
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', end + 1)) line++;
  return line;
}

function wholeLines(text: string, change: FileChange, start: number, end: number): FileChange {
  const { oldText = '', newText } = change;
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  const endsLine = (part: string): boolean => part.endsWith('\n') || (part === '' && before === '');
  const isWhole = endsLine(oldText) && endsLine(newText);
  const lineEnd = text.indexOf('\n', end);
  const after = isWhole ? '' : text.slice(end, lineEnd === -1 ? text.length : lineEnd);
  if (before.length + after.length === 0 || before.length + after.length > MAX_ADDED) return change;
  return { ...change, oldText: before + oldText + after, newText: before + newText + after };
}
