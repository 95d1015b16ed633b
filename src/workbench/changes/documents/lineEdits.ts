// The smallest edits by lines that make one text of a document of another, so that cursors,
// selections and folds beside the changes stay. Pure.
import { changedLines } from '../../../changes/lines/lineMatch';
import { smallestChange, type TextChange } from '../../../client/requests/textEdit';

/** Steps of the search for changed lines: about two milliseconds. */
const MAX_STEPS = 100_000;
/** More lines than this are replaced as one block. */
const MAX_LINES = 20_000;

/**
 * Returns the replacements, in order and apart from each other; none where the texts are equal.
 * Texts with too many changes are given as one.
 */
export function lineEdits(before: string, after: string): readonly TextChange[] {
  const whole = smallestChange(before, after);
  if (!whole) return [];
  const [oldLines, newLines] = [linesOf(before), linesOf(after)];
  if (oldLines.length + newLines.length > MAX_LINES) return [whole];
  const changed = changedLines(oldLines, newLines, { left: MAX_STEPS });
  if (!changed) return [whole];
  const edits: TextChange[] = [];
  let [old, fresh, at] = [0, 0, 0];
  while (old < oldLines.length || fresh < newLines.length) {
    if (!changed.removed[old] && !changed.added[fresh]) {
      at += oldLines[old]?.length ?? 0;
      old += 1;
      fresh += 1;
      continue;
    }
    const start = at;
    let text = '';
    for (; changed.removed[old]; old += 1) at += oldLines[old]?.length ?? 0;
    for (; changed.added[fresh]; fresh += 1) text += newLines[fresh] ?? '';
    edits.push({ start, end: at, text });
  }
  return edits;
}

/** Lines with their ends. */
function linesOf(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
}
