// Takes the next turn of the agent into what waits, and keeps the edits that the user made before it
// apart from what the agent changed.
import type { LineHunk } from '../../base/lineHunks';
import { compareLines, inverted } from '../lines/hunks';
import { placeHunks, withHunks } from '../lines/placeHunks';
import type { TextLines } from '../lines/textLines';
import type { FileVersion } from '../model/fileChange';
import { areFiles, type FileTexts } from './fileTexts';
import { type Ends, isSameVersion } from './waitingFiles';

/**
 * Returns the versions of a file that waits after another turn.
 *
 * Where the user edited the file between the turns, no undo will take that edit back:
 * - An edit of lines that the agent had not changed goes into the kept version.
 * - An edit of lines that wait stays an edit of the user, as if it had been made after the turn.
 * - Where the agent then changed the same lines again, the kept version gets them as they were
 *   before the turn, so that only the agent's last change of them waits.
 * @param before when the turn began; it is not the version that the agent had left
 * @param after when the turn ended
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

/** As {@link carry}, for a file that the agent created: none of it was kept. */
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

/**
 * Takes edits of the user out of what the turn left.
 * @returns also the edits that could not be taken out, from `before` to `left`
 */
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

/** The hunks whose second lines meet the first lines of others, or stand beside them. */
function meeting(all: readonly LineHunk[], others: readonly LineHunk[]): readonly LineHunk[] {
  let next = 0;
  return all.filter(({ bStart, bCount }) => {
    for (let one = others[next]; one && one.aStart + one.aCount < bStart; one = others[++next]);
    const one = others[next];
    return one !== undefined && one.aStart <= bStart + bCount;
  });
}
