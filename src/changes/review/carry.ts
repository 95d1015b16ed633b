// Takes the next turn of the agent into what waits, and keeps the edits that the user made before it
// apart from what the agent changed.
import type { LineHunk } from '../../base/lineHunks';
import { compareLines, inverted, type TextLines } from '../lines/hunks';
import { placeHunks, withHunks } from '../lines/placeHunks';
import type { FileVersion } from '../model/fileChange';
import { areFiles, type FileTexts } from './fileTexts';
import type { Change } from './takeBack';
import { type Ends, isSameVersion } from './waitingFiles';

/**
 * Returns the versions of a waiting file after another turn. No undo takes back what the user
 * edited between the turns: edits of lines that the agent had not changed go into the kept version;
 * edits of waiting lines stay the user's, as if made after the turn; if the agent changed the same
 * lines again, the kept version gets them as before the turn.
 * @param before not the version that the agent had left
 * @throws ParleyError `state-gone`, `version-not-kept`
 */
export async function carry(
  texts: FileTexts,
  { base, left }: Ends,
  before: FileVersion | undefined,
  after: FileVersion | undefined,
): Promise<Ends> {
  if (isSameVersion(left, before)) return { base, left: after };
  if (!left || !before || !areFiles(left, before)) return { base: before, left: after };
  const { slices } = texts;
  const [leftLines, beforeLines] = [await texts.lines(left), await texts.lines(before)];
  const baseLines = base && (await texts.comparable(base));
  if (!leftLines || !beforeLines || !baseLines) {
    return base || !leftLines || !beforeLines
      ? { base: before, left: after }
      : carryNew(texts, leftLines, beforeLines, before, after);
  }
  const yours = await compareLines(leftLines, beforeLines, slices);
  const agents = await compareLines(leftLines, baseLines, slices);
  const { placed, blocked } = await placeHunks(yours, agents, { edited: beforeLines, other: baseLines }, slices);
  const mode = left.mode === before.mode ? base!.mode : before.mode;
  const carried = await withHunks(baseLines, beforeLines, placed, slices);
  const { left: without, stuck } = await withoutEdits(texts, blocked, leftLines, beforeLines, after);
  if (stuck.length === 0) return { base: await texts.keep(carried, mode, before), left: without };
  const carriedLines = (await texts.linesOf(carried))!;
  const waiting = await compareLines(carriedLines, beforeLines, slices);
  const accepted = await withHunks(carriedLines, beforeLines, meeting(waiting, stuck), slices);
  return { base: await texts.keep(accepted, mode, before), left: without };
}

async function carryNew(
  texts: FileTexts,
  leftLines: TextLines,
  beforeLines: TextLines,
  before: FileVersion,
  after: FileVersion | undefined,
): Promise<Ends> {
  const yours = await compareLines(leftLines, beforeLines, texts.slices);
  const { left, stuck } = await withoutEdits(texts, yours, leftLines, beforeLines, after);
  return { base: stuck.length > 0 ? before : undefined, left };
}

async function withoutEdits(
  texts: FileTexts,
  edits: readonly LineHunk[],
  leftLines: TextLines,
  beforeLines: TextLines,
  after: FileVersion | undefined,
): Promise<{ readonly left: FileVersion | undefined; readonly stuck: readonly LineHunk[] }> {
  if (edits.length === 0) return { left: after, stuck: [] };
  const back = inverted(edits);
  const afterLines = after && (await texts.comparable(after));
  if (!afterLines) return { left: after, stuck: back };
  const turn = await compareLines(beforeLines, afterLines, texts.slices);
  const fork = { edited: leftLines, other: afterLines };
  const { placed, blocked } = await placeHunks(back, turn, fork, texts.slices);
  const content = await withHunks(afterLines, leftLines, placed, texts.slices);
  return { left: await texts.keep(content, after.mode, after), stuck: blocked };
}

/** The hunks whose second lines touch the first lines of others. */
function meeting(all: readonly LineHunk[], others: readonly LineHunk[]): readonly LineHunk[] {
  let next = 0;
  return all.filter(({ bStart, bCount }) => {
    for (let one = others[next]; one && one.aStart + one.aCount < bStart; one = others[++next]);
    const one = others[next];
    return one !== undefined && one.aStart <= bStart + bCount;
  });
}

/** `isEntangled`: a part of the change still waits. */
export interface KeptTurn {
  readonly base: FileVersion | undefined;
  readonly isEntangled: boolean;
}

/**
 * Puts a turn's change into the kept version, without what was undone since. Changes of lines that
 * an earlier, waiting turn changed are left.
 * @throws ParleyError `state-gone`, `version-not-kept`
 */
export async function keepTurn(
  texts: FileTexts,
  { base, left }: Ends,
  { before, after }: Pick<Change, 'before' | 'after'>,
): Promise<KeptTurn> {
  if (isSameVersion(base, after)) return { base, isEntangled: false };
  if (isSameVersion(base, before) && isSameVersion(left, after)) return { base: after, isEntangled: false };
  const lines =
    areFiles(before, after) && areFiles(base, left)
      ? [await texts.lines(before), await texts.lines(after), await texts.lines(base), await texts.lines(left)]
      : [];
  const [old, made, baseLines, leftLines] = lines;
  if (!old || !made || !baseLines || !leftLines) return { base, isEntangled: true };
  const { slices } = texts;
  const all = await compareLines(old, made, slices);
  const since = await compareLines(made, leftLines, slices);
  const there = await placeHunks(inverted(all), since, { edited: old, other: leftLines }, slices);
  const others = await compareLines(old, baseLines, slices);
  const found = await placeHunks(inverted(there.edits), others, { edited: made, other: baseLines }, slices);
  const mode = base!.mode === before!.mode ? after!.mode : base!.mode;
  const content = await withHunks(baseLines, made, found.placed, slices);
  return { base: await texts.keep(content, mode, left), isEntangled: found.blocked.length > 0 };
}
