// About how tall an item will be, in px, before it was ever drawn. Only the scroll bar depends on it. Pure.
import type { ItemView } from '../../panel/contract';

const LINE = 20;
const GAP = 9;

export function estimateHeight(item: ItemView, columns: number): number {
  switch (item.kind) {
    case 'user':
    case 'agent': {
      const length = item.content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : columns * 3), 0);
      return Math.ceil((length * 1.25) / columns + 0.5) * LINE + GAP;
    }
    case 'tool': {
      const lines = item.content.reduce((sum, content) => {
        if (content.type === 'diff') return sum + content.diff.hunks.reduce((all, hunk) => all + hunk.lines.length, 0) + 1;
        return sum + (content.type === 'terminal' ? 3 : 0);
      }, 0);
      return 28 + Math.min(lines, 14) * 18 + GAP;
    }
    case 'plan':
      return 40 + item.entries.length * 22;
    case 'error':
      return 70;
    default:
      return 26 + GAP;
  }
}
