// Finds the lines of two texts that have no partner in the other. Lines in one text alone need no
// search, lines that occur once in each text split the rest into short stretches, and only within
// these is a shortest edit script searched for (Myers 1986), for as many steps as are left.

/**
 * Lines that changed: 1 at the index of each line of the old text that was removed, and of the new
 * text that was added.
 */
export interface ChangedLines {
  readonly removed: Uint8Array;
  readonly added: Uint8Array;
}

/** Steps that comparisons may still take. */
export interface Steps {
  left: number;
}

/** What the search for changes may cost. */
export interface SearchLimits {
  /** Steps in one stretch. */
  readonly stretch: number;
  /** Steps in all. */
  readonly all: number;
  /** A stretch that needs more steps counts as changed as a whole; else the search fails. */
  readonly isCoarse?: true;
}

/** Steps taken before other work may run. */
const AT_ONCE = 4096;

/** Lines of one text by number, equal lines having the same; and where they stand in it. */
interface Side {
  readonly ids: number[];
  readonly at: number[];
  /** Marks what changed, by the place in the text. */
  readonly changed: Uint8Array;
}

/** A part of both sides, ends not included. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly otherFrom: number;
  readonly otherTo: number;
}

/**
 * Compares lines.
 * @param steps of the search; it takes from them
 * @returns undefined where there were not enough
 */
export function changedLines(
  oldLines: readonly string[],
  newLines: readonly string[],
  steps: Steps,
): ChangedLines | undefined {
  const ids = new Map<string, number>();
  const oldIds = Uint32Array.from(oldLines, (line) => idOf(ids, line));
  const newIds = Uint32Array.from(newLines, (line) => idOf(ids, line));
  const search = matchLines(oldIds, newIds, ids.size, { stretch: steps.left, all: steps.left }, steps);
  for (;;) {
    const step = search.next();
    if (step.done) return step.value;
  }
}

/**
 * Compares lines by their numbers; yields every few thousand steps. The result depends on the lines
 * and the limits alone.
 * @param size greater than each number
 * @returns undefined where the limits were too low, unless `isCoarse`
 */
export function* matchLines(
  oldIds: Uint32Array,
  newIds: Uint32Array,
  size: number,
  limits: SearchLimits,
  steps: Steps = { left: limits.all },
): Generator<void, ChangedLines | undefined> {
  const oldCounts = countsOf(oldIds, size);
  yield;
  const newCounts = countsOf(newIds, size);
  yield;
  const old = yield* sideOf(oldIds, newCounts);
  const fresh = yield* sideOf(newIds, oldCounts);
  let from = 0;
  let otherFrom = 0;
  const isOnce = (id: number): boolean => oldCounts[id] === 1 && newCounts[id] === 1;
  const ends = yield* anchors(old, fresh, size, isOnce);
  ends.push([old.ids.length, fresh.ids.length]);
  for (const [index, [to, otherTo]] of ends.entries()) {
    const stretch = { from, to, otherFrom, otherTo };
    const before = steps.left;
    const own = { left: Math.min(limits.stretch, steps.left) };
    const granted = own.left;
    const isFound = yield* search(old, fresh, stretch, own);
    steps.left = before - (granted - own.left);
    if (!isFound && !limits.isCoarse) return undefined;
    from = to + 1;
    otherFrom = otherTo + 1;
    if (index % AT_ONCE === 0) yield;
  }
  return { removed: old.changed, added: fresh.changed };
}

function idOf(ids: Map<string, number>, line: string): number {
  const known = ids.get(line);
  if (known !== undefined) return known;
  ids.set(line, ids.size);
  return ids.size - 1;
}

function countsOf(ids: Uint32Array, size: number): Uint32Array {
  const counts = new Uint32Array(size);
  for (const id of ids) counts[id]!++;
  return counts;
}

/** What can have a partner; all else has changed. */
function* sideOf(ids: Uint32Array, others: Uint32Array): Generator<void, Side> {
  const side: Side = { ids: [], at: [], changed: new Uint8Array(ids.length) };
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at]!;
    if (others[id] === 0) side.changed[at] = 1;
    else {
      side.ids.push(id);
      side.at.push(at);
    }
    if (at % AT_ONCE === 0) yield;
  }
  return side;
}

/**
 * The most of the lines that stand once in each text which are in the same order in both, as places
 * in the sides.
 */
function* anchors(
  old: Side,
  fresh: Side,
  size: number,
  isOnce: (id: number) => boolean,
): Generator<void, (readonly [number, number])[]> {
  const places = new Int32Array(size).fill(-1);
  for (const [place, id] of old.ids.entries()) {
    if (isOnce(id)) places[id] = place;
    if (place % AT_ONCE === 0) yield;
  }
  // The longest increasing sequence: the pair that ends the best sequence of each length, and what
  // stood before each pair.
  const pairs: (readonly [number, number])[] = [];
  const ends: number[] = [];
  const before: number[] = [];
  for (const [other, id] of fresh.ids.entries()) {
    if (other % AT_ONCE === 0) yield;
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
    if (found.push(pairs[index]!) % AT_ONCE === 0) yield;
  }
  return found.reverse();
}

/**
 * Marks what changed in a stretch.
 * @returns false where there were not enough steps: then all of it is marked
 */
function* search(old: Side, fresh: Side, stretch: Stretch, steps: Steps): Generator<void, boolean> {
  let { from, to, otherFrom, otherTo } = stretch;
  while (from < to && otherFrom < otherTo && old.ids[from] === fresh.ids[otherFrom]) {
    from++;
    otherFrom++;
    if (from % AT_ONCE === 0) yield;
  }
  while (from < to && otherFrom < otherTo && old.ids[to - 1] === fresh.ids[otherTo - 1]) {
    to--;
    otherTo--;
    if (to % AT_ONCE === 0) yield;
  }
  const trace = yield* furthest(old, fresh, { from, to, otherFrom, otherTo }, steps);
  if (!trace) {
    for (let at = from; at < to; at++) old.changed[old.at[at]!] = 1;
    for (let at = otherFrom; at < otherTo; at++) fresh.changed[fresh.at[at]!] = 1;
    return false;
  }
  let x = to - from;
  let y = otherTo - otherFrom;
  for (let edits = trace.length - 1; edits > 0; edits--) {
    const reached = trace[edits - 1]!;
    const diagonal = x - y;
    const isAdded = comesFromAbove(reached, edits, diagonal);
    const back = isAdded ? diagonal + 1 : diagonal - 1;
    x = reached[back + edits - 1]!;
    y = x - back;
    if (isAdded) fresh.changed[fresh.at[otherFrom + y]!] = 1;
    else old.changed[old.at[from + x]!] = 1;
  }
  return true;
}

/**
 * For each number of edits, how far one comes on each diagonal; the last is enough. Undefined where
 * there were not enough steps.
 */
function* furthest(
  old: Side,
  fresh: Side,
  { from, to, otherFrom, otherTo }: Stretch,
  steps: Steps,
): Generator<void, Int32Array[] | undefined> {
  const width = to - from;
  const height = otherTo - otherFrom;
  const trace: Int32Array[] = [];
  for (let edits = 0; ; edits++) {
    const before = trace[edits - 1];
    const reached = new Int32Array(2 * edits + 1);
    trace.push(reached);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = 0;
      if (before) {
        x = comesFromAbove(before, edits, diagonal) ? before[diagonal + edits]! : before[diagonal + edits - 2]! + 1;
      }
      let y = x - diagonal;
      steps.left--;
      while (x < width && y < height && old.ids[from + x] === fresh.ids[otherFrom + y]) {
        x++;
        y++;
        steps.left--;
      }
      reached[diagonal + edits] = x;
      if (x >= width && y >= height) return trace;
    }
    if (steps.left < 0) return undefined;
    if (edits % 64 === 63) yield;
  }
}

/**
 * Returns whether the best way to a diagonal adds a line; else it removes one.
 * @param before how far one came with one edit less
 */
function comesFromAbove(before: Int32Array, edits: number, diagonal: number): boolean {
  if (diagonal === -edits) return true;
  return diagonal !== edits && before[diagonal + edits - 2]! < before[diagonal + edits]!;
}
