// Applies changes of one file to another version of it: exactly, or not at all.
import type { LineHunk } from '../../base/lineHunks';
import { bytesOf, type TextLines } from './hunks';
import type { Slices } from './slices';

const HUNKS_PER_PAUSE = 1024;

export interface Fork {
  readonly edited: TextLines;
  readonly other: TextLines;
}

export interface Placement {
  /** Edits that apply, as hunks from the other version to the edited one; in order. */
  readonly placed: readonly LineHunk[];
  readonly edits: readonly LineHunk[];
  readonly applied: readonly LineHunk[];
  readonly blocked: readonly LineHunk[];
  readonly blocking: readonly LineHunk[];
}

/**
 * An edit applies only if its lines are untouched in the other version, so that all other lines
 * stay as they are. It is blocked if another change touches its lines, if both insert at the same
 * position (their order is unknown), or if a line without a line feed would run into the next one.
 * @param edits from the common version to `edited`, in order
 * @param others from the common version to `other`, in order
 */
export async function placeHunks(
  edits: readonly LineHunk[],
  others: readonly LineHunk[],
  { edited, other }: Fork,
  slices: Slices,
): Promise<Placement> {
  const found = {
    placed: [] as LineHunk[],
    edits: [] as LineHunk[],
    applied: [] as LineHunk[],
    blocked: [] as LineHunk[],
    blocking: new Set<LineHunk>(),
  };
  let next = 0;
  let shift = 0;
  for (const [index, edit] of edits.entries()) {
    if (index % HUNKS_PER_PAUSE === 0) await slices.pause();
    for (let one = others[next]; one && isBefore(one, edit); one = others[++next]) shift += one.bCount - one.aCount;
    const touching: LineHunk[] = [];
    for (let at = next; at < others.length && touches(edit, others[at]!); at++) touching.push(others[at]!);
    const [twin] = touching;
    if (twin && isSameEdit(edit, edited, twin, other)) found.applied.push(edit);
    else if (twin || joinsLines(edit, shift, edited, other)) {
      found.blocked.push(edit);
      for (const one of touching) found.blocking.add(one);
    } else {
      found.placed.push({ ...edit, aStart: edit.aStart + shift });
      found.edits.push(edit);
    }
  }
  return { ...found, blocking: [...found.blocking].sort((one, two) => one.aStart - two.aStart) };
}

export async function withHunks(
  a: TextLines,
  b: TextLines,
  chosen: readonly LineHunk[],
  slices: Slices,
): Promise<Buffer> {
  let size = a.bytes.length;
  for (const { aStart, aCount, bStart, bCount } of chosen) {
    size += sizeOf(b, bStart, bStart + bCount) - sizeOf(a, aStart, aStart + aCount);
  }
  const result = Buffer.allocUnsafe(size);
  let written = 0;
  const copy = (lines: TextLines, from: number, to: number): void => {
    written += lines.bytes.copy(result, written, lines.starts[from], lines.starts[to]);
  };
  let line = 0;
  for (const [index, { aStart, aCount, bStart, bCount }] of chosen.entries()) {
    if (index % HUNKS_PER_PAUSE === 0) await slices.pause();
    copy(a, line, aStart);
    copy(b, bStart, bStart + bCount);
    line = aStart + aCount;
  }
  copy(a, line, a.count);
  return result;
}

export interface MappedLines {
  readonly start: number;
  readonly count: number;
  readonly isTouched: boolean;
}

/**
 * Maps the `b` lines of each hunk through `others`. The range of changed lines includes all
 * replacements.
 */
export function mapLines(all: readonly LineHunk[], others: readonly LineHunk[]): readonly MappedLines[] {
  let next = 0;
  let shift = 0;
  return all.map(({ bStart, bCount }) => {
    const lines = { aStart: bStart, aCount: bCount };
    for (let one = others[next]; one && isBefore(one, lines); one = others[++next]) shift += one.bCount - one.aCount;
    let from = bStart;
    let to = bStart + bCount;
    let inside = 0;
    let isTouched = false;
    for (let at = next; at < others.length && touches(lines, others[at]!); at++) {
      const { aStart, aCount, bCount: made } = others[at]!;
      from = Math.min(from, aStart);
      to = Math.max(to, aStart + aCount);
      inside += made - aCount;
      isTouched = true;
    }
    return { start: from + shift, count: to - from + inside, isTouched };
  });
}

type Lines = Pick<LineHunk, 'aStart' | 'aCount'>;

/** An insertion is before the lines it is inserted in front of. */
function isBefore(one: Lines, edit: Lines): boolean {
  const end = one.aStart + one.aCount;
  return end < edit.aStart || (end === edit.aStart && !isSameInsertion(one, edit));
}

function touches(edit: Lines, one: Lines): boolean {
  const isOverlap = edit.aStart < one.aStart + one.aCount && one.aStart < edit.aStart + edit.aCount;
  return isOverlap || isSameInsertion(edit, one);
}

function isSameInsertion(one: Lines, two: Lines): boolean {
  return one.aCount === 0 && two.aCount === 0 && one.aStart === two.aStart;
}

function isSameEdit(edit: LineHunk, edited: TextLines, one: LineHunk, other: TextLines): boolean {
  if (edit.aStart !== one.aStart || edit.aCount !== one.aCount) return false;
  const made = bytesOf(edited, edit.bStart, edit.bStart + edit.bCount);
  return made.equals(bytesOf(other, one.bStart, one.bStart + one.bCount));
}

/** A line without a line feed would precede another one. */
function joinsLines(edit: LineHunk, shift: number, edited: TextLines, other: TextLines): boolean {
  if (edit.bCount === 0) return false;
  const start = edit.aStart + shift;
  const isOpen = edited.isOpen && edit.bStart + edit.bCount === edited.count;
  return (isOpen && start + edit.aCount < other.count) || (other.isOpen && start > 0 && start === other.count);
}

function sizeOf(lines: TextLines, from: number, to: number): number {
  return lines.starts[to]! - lines.starts[from]!;
}
