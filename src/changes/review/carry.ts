// Merges the agent's next turn into the unreviewed changes, and separates the user's earlier edits
// from the agent's.
import type { LineHunk } from '../../base/lineHunks';
import { compareLines, inverted, type TextLines } from '../lines/hunks';
import { placeHunks, withHunks } from '../lines/placeHunks';
import type { FileVersion } from '../model/fileChange';
import { areFiles, type FileTexts } from './fileTexts';
import type { Change } from './takeBack';
import { type Ends, isSameVersion } from './waitingFiles';

/**
 * Edits that the user made between the turns are never undone: on lines that the agent had not
 * changed, they go into the kept version; on unreviewed lines, they count as made after the turn;
 * if the agent changed the same lines again, the kept version gets these as before the turn.
 * @param before differs from the version that the agent left
 * @throws ParleyError `state-gone`, `version-not-kept`
 */
export async function mergeTurn(
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
  const userEdits = await compareLines(leftLines, beforeLines, slices);
  const agentChanges = await compareLines(leftLines, baseLines, slices);
  const { placed, blocked } = await placeHunks(
    userEdits,
    agentChanges,
    { edited: beforeLines, other: baseLines },
    slices,
  );
  const mode = left.mode === before.mode ? base!.mode : before.mode;
  const withUserEdits = await withHunks(baseLines, beforeLines, placed, slices);
  const { left: without, blockedEdits } = await withoutEdits(texts, blocked, leftLines, beforeLines, after);
  if (blockedEdits.length === 0) return { base: await texts.keep(withUserEdits, mode, before), left: without };
  const userEditedLines = (await texts.linesOf(withUserEdits))!;
  const waiting = await compareLines(userEditedLines, beforeLines, slices);
  const accepted = await withHunks(userEditedLines, beforeLines, touchingHunks(waiting, blockedEdits), slices);
  return { base: await texts.keep(accepted, mode, before), left: without };
}

async function carryNew(
  texts: FileTexts,
  leftLines: TextLines,
  beforeLines: TextLines,
  before: FileVersion,
  after: FileVersion | undefined,
): Promise<Ends> {
  const userEdits = await compareLines(leftLines, beforeLines, texts.slices);
  const { left, blockedEdits } = await withoutEdits(texts, userEdits, leftLines, beforeLines, after);
  return { base: blockedEdits.length > 0 ? before : undefined, left };
}

async function withoutEdits(
  texts: FileTexts,
  edits: readonly LineHunk[],
  leftLines: TextLines,
  beforeLines: TextLines,
  after: FileVersion | undefined,
): Promise<{ readonly left: FileVersion | undefined; readonly blockedEdits: readonly LineHunk[] }> {
  if (edits.length === 0) return { left: after, blockedEdits: [] };
  const reverted = inverted(edits);
  const afterLines = after && (await texts.comparable(after));
  if (!afterLines) return { left: after, blockedEdits: reverted };
  const turn = await compareLines(beforeLines, afterLines, texts.slices);
  const fork = { edited: leftLines, other: afterLines };
  const { placed, blocked } = await placeHunks(reverted, turn, fork, texts.slices);
  const content = await withHunks(afterLines, leftLines, placed, texts.slices);
  return { left: await texts.keep(content, after.mode, after), blockedEdits: blocked };
}

/** The hunks whose second lines touch the first lines of others. */
function touchingHunks(all: readonly LineHunk[], others: readonly LineHunk[]): readonly LineHunk[] {
  let next = 0;
  return all.filter(({ bStart, bCount }) => {
    for (let one = others[next]; one && one.aStart + one.aCount < bStart; one = others[++next]);
    const one = others[next];
    return one !== undefined && one.aStart <= bStart + bCount;
  });
}

/** `isEntangled`: a part of the change remains unreviewed. */
export interface KeptTurn {
  readonly base: FileVersion | undefined;
  readonly isEntangled: boolean;
}

/**
 * Adds a turn's change to the kept version, without what was undone since. Skips lines that an
 * earlier, unreviewed turn changed. Throws ParleyError `state-gone`, `version-not-kept`.
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
  const [old, afterLines, baseLines, leftLines] = lines;
  if (!old || !afterLines || !baseLines || !leftLines) return { base, isEntangled: true };
  const { slices } = texts;
  const all = await compareLines(old, afterLines, slices);
  const since = await compareLines(afterLines, leftLines, slices);
  const remaining = await placeHunks(inverted(all), since, { edited: old, other: leftLines }, slices);
  const others = await compareLines(old, baseLines, slices);
  const found = await placeHunks(inverted(remaining.edits), others, { edited: afterLines, other: baseLines }, slices);
  const mode = base!.mode === before!.mode ? after!.mode : base!.mode;
  const content = await withHunks(baseLines, afterLines, found.placed, slices);
  return { base: await texts.keep(content, mode, left), isEntangled: found.blocked.length > 0 };
}
