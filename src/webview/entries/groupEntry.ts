// The line of a group of calls, with the number of calls of each kind. Expands to the calls.
import { button, el, icon, setAttributes } from '../dom/dom';
import { strings } from '../text/strings';
import type { EntryView } from './entryView';

const ACTIVITIES = ['read', 'search', 'edit', 'run', 'subagent', 'other'] as const;
export type Activity = (typeof ACTIVITIES)[number];
export type ActivityCounts = { readonly [A in Activity]?: number };

export function createGroupLine(isOpen: boolean, counts: ActivityCounts, toggle: () => void): HTMLButtonElement {
  const line = button('group-line', '', toggle);
  line.append(icon(isOpen ? 'chevron-down' : 'chevron-right'), el('span', 'cut'));
  drawCounts(line, counts);
  return setAttributes(line, { 'aria-expanded': String(isOpen) });
}

/** Keeps the button, which may be focused or pressed. */
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
