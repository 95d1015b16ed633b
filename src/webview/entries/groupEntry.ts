// The line of a group of calls: how many there were of each kind. It unfolds to the calls.
import { button, el, icon, setAttributes } from '../dom/dom';
import { strings } from '../text/strings';
import type { EntryView } from './entryView';

/** In the order in which they are named. */
const ACTIVITIES = ['read', 'search', 'edit', 'run', 'subagent', 'other'] as const;
export type Activity = (typeof ACTIVITIES)[number];
export type ActivityCounts = { readonly [A in Activity]?: number };

export function createGroupLine(isOpen: boolean, counts: ActivityCounts, toggle: () => void): HTMLButtonElement {
  const words = ACTIVITIES.flatMap((activity) => {
    const count = counts[activity] ?? 0;
    return count > 0 ? [strings.activities[activity](count)] : [];
  }).join(' · ');
  const line = button('group-line', '', toggle);
  line.append(icon(isOpen ? 'chevron-down' : 'chevron-right'), el('span', 'cut', words));
  return setAttributes(line, { 'aria-expanded': String(isOpen) });
}

export function createGroupEntry(id: string, counts: () => ActivityCounts, toggle: () => void): EntryView {
  const element = setAttributes(el('article', 'entry tool group'), {
    role: 'article',
    'data-entry-id': `group:${id}`,
    'data-kind': 'group',
    tabindex: '-1',
  });
  const update = (): void => {
    const hadFocus = element.contains(document.activeElement) && document.activeElement !== element;
    const line = createGroupLine(false, counts(), toggle);
    element.replaceChildren(line);
    element.ariaLabel = line.textContent;
    if (hadFocus) line.focus({ preventScroll: true });
  };
  update();
  return { element, update, toggle };
}
