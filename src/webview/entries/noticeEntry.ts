// A notice of the agent or the panel, or an unknown update.
import { button, el, icon, setAttributes } from '../dom/dom';
import type { IconName } from '../dom/icons';
import { createText } from '../output/plainText';
import { strings } from '../text/strings';
import { createArticle, type EntryFactory, markLate } from './entryView';
import { createFold } from './fold';

const ICONS: Readonly<Record<string, IconName>> = { warning: 'warning', error: 'error', busy: 'loading' };

export const createNoticeEntry: EntryFactory = (stored, _index, context) => {
  const element = createArticle(stored.item, strings.notice);
  const body = el('div', 'notice-body');
  element.append(body);

  function draw(): void {
    const { item } = stored;
    if (item.kind !== 'notice') return;
    element.dataset.severity = item.severity;
    const words = el('div', 'words', el('span', 'notice-title', item.title));
    if (item.text) words.append(createText('notice-text', item.text));
    if (item.detail) words.append(createFold(strings.summary, item.detail, context));
    if (item.json) words.append(createFold(strings.raw, item.json, context));
    const { action } = item;
    if (action)
      words.append(
        ' ',
        button('text-button', action.label, () => context.post({ type: 'action', id: action.id })),
      );
    // Last, as the browser determines the direction again for each added node.
    setAttributes(words, { dir: 'auto' });
    body.replaceChildren(icon(ICONS[item.severity] ?? 'info'), words);
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
