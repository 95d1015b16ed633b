// Finds the turn that last wrote a line of a file, by the states of the folder around each turn.
import { join } from 'node:path';
import type { LineHunk } from '../../base/lineHunks';
import { compareLines } from '../../changes/lines/hunks';
import { Slices } from '../../changes/lines/slices';
import { textLines } from '../../changes/lines/textLines';
import type { FolderStates } from '../../changes/model/folderStore';
import { FileTexts } from '../../changes/review/fileTexts';
import type { TurnChanges } from '../../session/events/event';
import { isBelow } from '../requests/roots';
import { pathOf } from './changedPaths';
import { statesOf } from './recordedTurn';

export interface LinePlace {
  /** Of the file, absolute. */
  readonly path: string;
  /** As the file is now. */
  readonly content: Buffer;
  /** Counts from 0. */
  readonly line: number;
}

/** The states around a turn. */
export interface PastTurn {
  readonly changes: TurnChanges;
}

/**
 * Follows a line back through turns, in slices. Turns whose states are no longer kept are passed
 * over, and so are those that wrote something else there: it was undone, or edited since.
 * @param turns newest first
 * @returns the first of them that wrote the line as it is; undefined where none did
 * @throws the reason of `signal`
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
    const change = all.find((one) => pathOf(one) === path);
    const texts = new FileTexts(states, change?.root ?? '');
    const versions = [change?.before, change?.after].map((one) => texts.comparable(one).catch(() => undefined));
    const [base, left] = await Promise.all(versions);
    if (!base || !left || !change) continue;
    const there = lineBefore(await compareLines(left, lines, slices), line);
    if (there === undefined) continue;
    const earlier = lineBefore(await compareLines(base, left, slices), there);
    if (earlier === undefined) return turn;
    [lines, line] = [base, earlier];
    if (change.oldPath !== undefined) path = join(change.root, change.oldPath);
  }
  return undefined;
}

/** Returns which line of the first file a line of the second is; undefined where a hunk has it. */
function lineBefore(hunks: readonly LineHunk[], line: number): number | undefined {
  let shift = 0;
  for (const { aCount, bStart, bCount } of hunks) {
    if (bStart > line) break;
    if (line < bStart + bCount) return undefined;
    shift += aCount - bCount;
  }
  return line + shift;
}
