// The line of a group of reads and searches: how many there were. It unfolds to the calls.
import { button, el, icon, setAttributes } from '../dom/dom';
import { strings } from '../text/strings';
import type { EntryView } from './entryView';

export interface GroupCounts {
  readonly files: number;
  readonly searches: number;
}

export function createGroupLine(isOpen: boolean, counts: GroupCounts, toggle: () => void): HTMLButtonElement {
  const words = [
    ...(counts.files > 0 ? [strings.readFiles(counts.files)] : []),
    ...(counts.searches > 0 ? [strings.searches(counts.searches)] : []),
  ].join(' · ');
  const line = button('group-line', '', toggle);
  line.append(icon(isOpen ? 'chevron-down' : 'chevron-right'), el('span', 'cut', words));
  return setAttributes(line, { 'aria-expanded': String(isOpen) });
}

export function createGroupEntry(id: string, counts: () => GroupCounts, toggle: () => void): EntryView {
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
