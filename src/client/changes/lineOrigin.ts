// Finds the turn that last wrote a line of a file, from the folder states around each turn.
import { join } from 'node:path';
import type { LineHunk } from '../../base/lineHunks';
import { compareLines, textLines } from '../../changes/lines/hunks';
import { Slices } from '../../changes/lines/slices';
import type { FolderStates } from '../../changes/model/fileChange';
import { FileTexts } from '../../changes/review/fileTexts';
import type { TurnChanges } from '../../session/events/event';
import { isBelow } from '../requests/roots';
import { pathOf } from './changedPaths';
import { statesOf } from './recordedTurn';

export interface LinePlace {
  readonly path: string;
  readonly content: Buffer;
  /** 0-based. */
  readonly line: number;
}

export interface PastTurn {
  readonly changes: TurnChanges;
}

/**
 * Follows a line back through turns, in slices. Skips turns whose states were removed, or whose
 * lines at this place have since been undone or edited.
 * @param turns newest first
 * @returns the latest turn that wrote the line as it is
 */
export async function turnOfLine<T extends PastTurn>(
  states: FolderStates,
  turns: readonly T[],
  place: LinePlace,
  signal: AbortSignal,
): Promise<T | undefined> {
  let { path, line } = place;
  const slices = new Slices();
  let lines = await textLines(place.content, slices);
  for (const turn of turns) {
    signal.throwIfAborted();
    const { before, after } = statesOf(turn.changes);
    if (!lines || !after || !before.folders.some(({ root }) => isBelow(root, path))) continue;
    const all = await states.changes(before, after, signal).catch(() => []);
    const change = all.find((each) => pathOf(each) === path);
    const texts = new FileTexts(states, change?.root ?? '');
    const versions = [change?.before, change?.after].map((version) => texts.comparable(version).catch(() => undefined));
    const [base, left] = await Promise.all(versions);
    if (!base || !left || !change) continue;
    const lineAfterTurn = lineBefore(await compareLines(left, lines, slices), line);
    if (lineAfterTurn === undefined) continue;
    const lineBeforeTurn = lineBefore(await compareLines(base, left, slices), lineAfterTurn);
    if (lineBeforeTurn === undefined) return turn;
    [lines, line] = [base, lineBeforeTurn];
    if (change.oldPath !== undefined) path = join(change.root, change.oldPath);
  }
  return undefined;
}

/** Returns the line's number before the hunks; undefined if a hunk contains it. */
function lineBefore(hunks: readonly LineHunk[], line: number): number | undefined {
  let shift = 0;
  for (const { aCount, bStart, bCount } of hunks) {
    if (bStart > line) break;
    if (line < bStart + bCount) return undefined;
    shift += aCount - bCount;
  }
  return line + shift;
}
