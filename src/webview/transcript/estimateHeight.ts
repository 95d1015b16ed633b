// Estimates the height of an item in px before it is first drawn. Only the scroll bar depends on
// it. Pure.
import type { ItemView } from '../../panel/contract';

const LINE = 20;
const GAP = 9;
const CHANGES_LINE = 24;

export function estimateHeight(item: ItemView, columns: number): number {
  switch (item.kind) {
    case 'user':
    case 'agent': {
      const lines = item.content.reduce(
        (sum, block) => sum + (block.type === 'text' ? textLines(block.text, columns) : 6),
        0,
      );
      return Math.ceil(lines * LINE) + GAP;
    }
    case 'tool': {
      const lines = item.content.reduce((sum, content) => {
        if (content.type === 'diff')
          return sum + content.diff.hunks.reduce((all, hunk) => all + hunk.lines.length, 0) + 1;
        return sum + (content.type === 'terminal' ? 3 : 0);
      }, 0);
      return lines === 0 ? 24 : 28 + Math.min(lines, 14) * 18 + GAP;
    }
    case 'plan':
      return 40 + item.entries.length * 22;
    case 'error':
      return 70 + (item.stderr === undefined ? 0 : 30 + Math.min(textLines(item.stderr, columns) * 18, 230));
    case 'turn_end':
      return 26 + GAP + (item.turn.changes?.files ? CHANGES_LINE : 0);
    default:
      return 26 + GAP;
  }
}

/** Returns the number of lines of a drawn text, including wrapped ones. */
function textLines(text: string, columns: number): number {
  let breaks = 1;
  for (let at = text.indexOf('\n'); at !== -1 && breaks < 2_000; at = text.indexOf('\n', at + 1)) breaks++;
  return Math.max(breaks * 0.6, (text.length * 1.1) / columns + 0.5);
}
