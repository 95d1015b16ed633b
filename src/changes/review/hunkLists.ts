// Caches the hunks of unreviewed files. Ids are stable while other hunks are kept and undone.
import type { LineHunk } from '../../base/lineHunks';
import { compareLines } from '../lines/hunks';
import type { FileVersion } from '../model/fileChange';
import type { FileTexts } from './fileTexts';
import type { Ends } from './waitingFiles';

const MAX_LISTS = 64;
const MAX_HUNKS = 300_000;
const OID_CHARS = 16;

interface NamedHunk extends LineHunk {
  readonly id: string;
}

export class HunkLists {
  readonly #lists = new Map<string, readonly NamedHunk[]>();
  #size = 0;

  /** Undefined without lines to compare. Throws ParleyError `state-gone`, `version-not-kept`. */
  async of(texts: FileTexts, { base, left }: Ends): Promise<readonly NamedHunk[] | undefined> {
    const key = keyOf(texts.root, base, left);
    const cached = this.#lists.get(key);
    if (cached) {
      this.#lists.delete(key);
      this.#lists.set(key, cached);
      return cached;
    }
    const before = await texts.comparable(base);
    const after = before && (await texts.comparable(left));
    if (!after) return undefined;
    const found = await compareLines(before, after, texts.slices);
    const name = `${shortOid(base)}.${shortOid(left)}`;
    return this.#cache(
      key,
      found.map((hunk, index) => ({ ...hunk, id: `${name}.${index}` })),
    );
  }

  /** Carries the ids of the other hunks over. */
  afterKeep(root: string, { base, left }: Ends, next: FileVersion, keptIds: ReadonlySet<string>): void {
    const list = this.#lists.get(keyOf(root, base, left));
    if (!list) return;
    let shift = 0;
    const rest: NamedHunk[] = [];
    for (const hunk of list) {
      if (keptIds.has(hunk.id)) shift += hunk.bCount - hunk.aCount;
      else rest.push({ ...hunk, aStart: hunk.aStart + shift });
    }
    this.#cache(keyOf(root, next, left), rest);
  }

  afterUndo(root: string, { base, left }: Ends, next: FileVersion, taken: readonly LineHunk[]): void {
    const list = this.#lists.get(keyOf(root, base, left));
    if (!list) return;
    // Only one hunk starts at a given pair of lines.
    const starts = new Set(taken.map(({ aStart, bStart }) => `${aStart}:${bStart}`));
    let shift = 0;
    const rest: NamedHunk[] = [];
    for (const hunk of list) {
      if (starts.has(`${hunk.aStart}:${hunk.bStart}`)) shift += hunk.aCount - hunk.bCount;
      else rest.push({ ...hunk, bStart: hunk.bStart + shift });
    }
    this.#cache(keyOf(root, base, next), rest);
  }

  #cache(key: string, list: readonly NamedHunk[]): readonly NamedHunk[] {
    this.#size += list.length - (this.#lists.get(key)?.length ?? 0);
    this.#lists.delete(key);
    this.#lists.set(key, list);
    for (const [oldest, { length }] of this.#lists) {
      if (oldest === key || (this.#lists.size <= MAX_LISTS && this.#size <= MAX_HUNKS)) break;
      this.#lists.delete(oldest);
      this.#size -= length;
    }
    return list;
  }
}

function keyOf(root: string, base: FileVersion | undefined, left: FileVersion | undefined): string {
  return `${root}\0${base?.oid}\0${left?.oid}`;
}

function shortOid(version: FileVersion | undefined): string {
  return version?.oid.slice(0, OID_CHARS) ?? '';
}
