// The line of a group of calls: how many there were of each kind. It unfolds to the calls.
import { button, el, icon, setAttributes } from '../dom/dom';
import { strings } from '../text/strings';
import type { EntryView } from './entryView';

/** In the order in which they are named. */
const ACTIVITIES = ['read', 'search', 'edit', 'run', 'subagent', 'other'] as const;
export type Activity = (typeof ACTIVITIES)[number];
export type ActivityCounts = { readonly [A in Activity]?: number };

export function createGroupLine(isOpen: boolean, counts: ActivityCounts, toggle: () => void): HTMLButtonElement {
  const line = button('group-line', '', toggle);
  line.append(icon(isOpen ? 'chevron-down' : 'chevron-right'), el('span', 'cut'));
  drawCounts(line, counts);
  return setAttributes(line, { 'aria-expanded': String(isOpen) });
}

/** The button stays, with the focus or a press that has begun. */
export function drawCounts(line: HTMLElement, counts: ActivityCounts): void {
  const words = ACTIVITIES.flatMap((activity) => {
    const count = counts[activity] ?? 0;
    return count > 0 ? [strings.activities[activity](count)] : [];
  }).join(' · ');
  const shown = line.lastElementChild!;
  if (shown.textContent !== words) shown.textContent = words;
}

export function createGroupEntry(id: string, counts: () => ActivityCounts, toggle: () => void): EntryView {
  const element = setAttributes(el('article', 'entry tool group'), {
    role: 'article',
    'data-entry-id': `group:${id}`,
    'data-kind': 'group',
    tabindex: '-1',
  });
  const line = createGroupLine(false, counts(), toggle);
  element.append(line);
  const update = (): void => {
    drawCounts(line, counts());
    element.ariaLabel = line.textContent;
  };
  update();
  return { element, update, toggle };
}
