// The agent's plan: a checklist in its order.
import { el, icon, setAttributes } from '../dom';
import type { IconName } from '../icons';
import { strings } from '../strings';
import { createArticle, type EntryFactory, markLate } from './entryView';

const MARKS: Readonly<Record<string, IconName>> = {
  pending: 'circle-large-outline',
  in_progress: 'circle-filled',
  completed: 'check',
  cancelled: 'circle-slash',
};

export const createPlanEntry: EntryFactory = (stored) => {
  const element = createArticle(stored.item, strings.plan);
  const progress = el('span', 'dim');
  const head = el('div', 'plan-head', icon('checklist'), el('b', '', strings.plan), progress);
  const list = setAttributes(el('ul', 'plan-list'), { role: 'list' });
  element.append(el('div', 'box', head, list));

  function draw(): void {
    const { item } = stored;
    if (item.kind !== 'plan') return;
    const done = item.entries.filter(({ status }) => status === 'completed').length;
    progress.textContent = strings.planProgress(done, item.entries.length);
    list.replaceChildren(
      ...item.entries.map(({ content, status, priority }) => {
        const words: Readonly<Record<string, string>> = strings.planStatus;
        const entry = el(
          'li',
          '',
          icon(MARKS[status] ?? 'circle-large-outline', words[status] ?? status),
          setAttributes(el('span', 'step', content), { dir: 'auto' }),
        );
        entry.dataset.status = status;
        if (priority === 'high' && status !== 'completed') {
          entry.append(setAttributes(el('span', 'priority', '!'), { title: strings.priorityHigh, role: 'img' }));
        }
        return entry;
      }),
    );
  }

  draw();
  return {
    element,
    update() {
      markLate(element, stored.item);
      draw();
    },
  };
};
