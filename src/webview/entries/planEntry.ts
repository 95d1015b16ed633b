// The agent's plan as a checklist.
import { own } from '../../base/untrusted';
import { el, icon, setAttributes } from '../dom/dom';
import type { IconName } from '../dom/icons';
import { MarkdownView } from '../markdown/markdownView';
import { strings } from '../text/strings';
import { createResourceChip } from './blocks';
import { createArticle, type EntryFactory, type EntryView, markLate } from './entryView';

const MARKS: Readonly<Record<string, IconName>> = {
  pending: 'circle-large-outline',
  in_progress: 'circle-filled',
  completed: 'check',
  cancelled: 'circle-slash',
};

export const createPlanEntry: EntryFactory = (stored, _index, context) => {
  const element = createArticle(stored.item, strings.plan);
  const progress = el('span', 'dim');
  const head = el('div', 'plan-head', icon('checklist'), el('b', '', strings.plan), progress);
  const list = setAttributes(el('ul', 'plan-list'), { role: 'list' });
  const text = el('div', 'plan-text');
  let markdown: MarkdownView | undefined;
  element.append(el('div', 'box', head, list, text));

  function draw(): void {
    const { item } = stored;
    if (item.kind !== 'plan') return;
    const done = item.entries.filter(({ status }) => status === 'completed').length;
    const isList = item.markdown === undefined && item.uri === undefined;
    element.dataset.removed = String(item.removed === true);
    progress.textContent = [
      isList ? strings.outOf(done, item.entries.length) : '',
      item.removed ? strings.planRemoved : '',
    ]
      .filter((words) => words !== '')
      .join(' · ');
    list.hidden = !isList;
    text.hidden = isList;
    text.replaceChildren();
    markdown?.dispose();
    markdown = undefined;
    if (item.markdown !== undefined) {
      markdown = new MarkdownView({ ...context, invalidate: () => context.invalidate(view) }, item.markdown);
      markdown.settle();
      text.append(markdown.element);
      context.invalidate(view);
    }
    if (item.uri !== undefined) {
      const name = item.uri.split(/[\\/]/).at(-1) || item.uri;
      text.append(el('span', 'dim', `${strings.planFile} `), createResourceChip(name, item.uri));
    }
    list.replaceChildren(
      ...item.entries.map(({ content, status, priority }) => {
        const words: Readonly<Record<string, string>> = strings.planStatus;
        const entry = el(
          'li',
          '',
          icon(own(MARKS, status) ?? 'circle-large-outline', own(words, status) ?? status),
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

  const view: EntryView = {
    element,
    update() {
      markLate(element, stored.item);
      draw();
    },
    render: (deadline) => markdown?.render(deadline) ?? true,
    drawWhole: () => markdown?.drawWhole() ?? false,
    dispose: () => markdown?.dispose(),
  };
  draw();
  return view;
};
