// Compares texts by lines. Lines that occur once in each text split the rest into short stretches;
// only these are searched for a shortest edit script.
import { diffArrays } from 'diff';

/** A changed range. Lines count from 0, without context. Hunks are in order and never touch. */
export interface LineHunk {
  readonly aStart: number;
  readonly aCount: number;
  readonly bStart: number;
  readonly bCount: number;
}

/** Limits of the search: N edits take N² / 2 steps, at about 20 million steps per second. */
export interface SearchLimits {
  /** Maximum steps per stretch. */
  readonly stretch: number;
  /** Maximum steps in total. */
  readonly all: number;
  /** Marks a stretch over the limit as changed as a whole, instead of failing. */
  readonly isCoarse?: boolean;
}

/** Lines per yield. */
const LINES_PER_YIELD = 4096;

/** The lines of one text that occur in both; equal lines have the same id. */
interface Side {
  readonly ids: number[];
  /** Line numbers in the text. */
  readonly at: number[];
  /** 1 for each changed line of the text. */
  readonly changed: Uint8Array;
}

/** @returns undefined if the search exceeds `maxSteps` and is not coarse */
export function lineHunks(
  a: readonly string[],
  b: readonly string[],
  maxSteps: number,
  isCoarse = false,
): readonly LineHunk[] | undefined {
  const ids = new Map<string, number>();
  const idsOf = (lines: readonly string[]) => Uint32Array.from(lines, (line) => idOf(ids, line));
  const search = findHunks(idsOf(a), idsOf(b), ids.size, { stretch: maxSteps, all: maxSteps, isCoarse });
  for (;;) {
    const step = search.next();
    if (step.done) return step.value;
  }
}

/** Returns the id of a line, assigning the next one to a new line. */
export function idOf(ids: Map<string, number>, line: string): number {
  const existing = ids.get(line);
  if (existing !== undefined) return existing;
  ids.set(line, ids.size);
  return ids.size - 1;
}

/**
 * Compares lines by their ids. Yields every few thousand lines. The result depends only on the
 * lines and the limits.
 * @param size greater than each id
 */
export function* findHunks(
  a: Uint32Array,
  b: Uint32Array,
  size: number,
  limits: SearchLimits,
): Generator<void, readonly LineHunk[] | undefined> {
  const aCounts = countsOf(a, size);
  yield;
  const bCounts = countsOf(b, size);
  yield;
  const one = yield* sideOf(a, bCounts);
  const two = yield* sideOf(b, aCounts);
  const ends = yield* anchors(one, two, size, (id) => aCounts[id] === 1 && bCounts[id] === 1);
  let left = limits.all;
  let [from, otherFrom] = [0, 0];
  for (const [to, otherTo] of [...ends, [one.ids.length, two.ids.length] as const]) {
    const used = search(one, two, [from, to], [otherFrom, otherTo], Math.min(limits.stretch, left));
    left -= Math.abs(used);
    if (used < 0 && !limits.isCoarse) return undefined;
    from = to + 1;
    otherFrom = otherTo + 1;
    yield;
  }
  return yield* hunksOf(one.changed, two.changed);
}

function countsOf(ids: Uint32Array, size: number): Uint32Array {
  const counts = new Uint32Array(size);
  for (const id of ids) counts[id]!++;
  return counts;
}

function* sideOf(ids: Uint32Array, others: Uint32Array): Generator<void, Side> {
  const side: Side = { ids: [], at: [], changed: new Uint8Array(ids.length) };
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at]!;
    if (others[id] === 0) side.changed[at] = 1;
    else {
      side.ids.push(id);
      side.at.push(at);
    }
    if (at % LINES_PER_YIELD === 0) yield;
  }
  return side;
}

/** Matches lines that occur once in each text, as far as their order is the same in both. */
function* anchors(
  one: Side,
  two: Side,
  size: number,
  isOnce: (id: number) => boolean,
): Generator<void, (readonly [number, number])[]> {
  const places = new Int32Array(size).fill(-1);
  for (const [place, id] of one.ids.entries()) {
    if (isOnce(id)) places[id] = place;
    if (place % LINES_PER_YIELD === 0) yield;
  }
  const pairs: (readonly [number, number])[] = [];
  /** The pair that ends the best sequence of each length, and the predecessor of each pair. */
  const ends: number[] = [];
  const before: number[] = [];
  for (const [other, id] of two.ids.entries()) {
    if (other % LINES_PER_YIELD === 0) yield;
    const place = places[id]!;
    if (place < 0) continue;
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]!]![0] < place) low = middle + 1;
      else high = middle;
    }
    before.push(ends[low - 1] ?? -1);
    ends[low] = pairs.length;
    pairs.push([place, other]);
  }
  const found: (readonly [number, number])[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index]!) {
    if (found.push(pairs[index]!) % LINES_PER_YIELD === 0) yield;
  }
  return found.reverse();
}

type Range = readonly [from: number, to: number];

/** Returns the steps taken; negative if the limit was exceeded and the whole stretch is marked. */
function search(one: Side, two: Side, range: Range, other: Range, maxSteps: number): number {
  const maxEditLength = Math.floor(Math.sqrt(2 * Math.max(0, maxSteps)));
  const parts = diffArrays(one.ids.slice(...range), two.ids.slice(...other), { maxEditLength }) ?? [
    { removed: true, added: false, count: range[1] - range[0] },
    { removed: false, added: true, count: other[1] - other[0] },
  ];
  let [at, otherAt, edits] = [range[0], other[0], 0];
  for (const { removed, added, count } of parts) {
    for (let n = 0; n < count; n++) {
      if (removed) one.changed[one.at[at + n]!] = 1;
      if (added) two.changed[two.at[otherAt + n]!] = 1;
    }
    if (!added) at += count;
    if (!removed) otherAt += count;
    if (added || removed) edits += count;
  }
  return edits > maxEditLength ? -Math.max(1, maxSteps) : (edits * edits) / 2;
}

function* hunksOf(removed: Uint8Array, added: Uint8Array): Generator<void, LineHunk[]> {
  const hunks: LineHunk[] = [];
  for (let x = 0, y = 0, turn = 0; x < removed.length || y < added.length; x++, y++, turn++) {
    const [aStart, bStart] = [x, y];
    while (removed[x] === 1) x++;
    while (added[y] === 1) y++;
    if (x > aStart || y > bStart) hunks.push({ aStart, aCount: x - aStart, bStart, bCount: y - bStart });
    if (turn % LINES_PER_YIELD === 0) yield;
  }
  return hunks;
}
