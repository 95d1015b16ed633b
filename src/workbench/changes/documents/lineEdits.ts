// Minimal line edits between two texts, so that cursors, selections and folds are preserved.
import { lineHunks } from '../../../base/lineHunks';
import { smallestChange, type TextChange } from '../../../client/requests/textEdit';

/** Steps of the diff, about 2 ms. */
const MAX_STEPS = 100_000;
const MAX_LINES = 20_000;

/** Returns the replacements in order; a single one if there are too many changes. */
export function lineEdits(before: string, after: string): readonly TextChange[] {
  const singleEdit = smallestChange(before, after);
  if (!singleEdit) return [];
  const [oldLines, newLines] = [linesOf(before), linesOf(after)];
  if (oldLines.length + newLines.length > MAX_LINES) return [singleEdit];
  const hunks = lineHunks(oldLines, newLines, MAX_STEPS);
  if (!hunks) return [singleEdit];
  let [line, at] = [0, 0];
  return hunks.map(({ aStart, aCount, bStart, bCount }) => {
    while (line < aStart) at += oldLines[line++]!.length;
    const start = at;
    while (line < aStart + aCount) at += oldLines[line++]!.length;
    return { start, end: at, text: newLines.slice(bStart, bStart + bCount).join('') };
  });
}

function linesOf(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
}
