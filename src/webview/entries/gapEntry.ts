// A place where something is missing from the transcript: why, and a way to ask for it again.
import { button, el, icon } from '../dom';
import { strings } from '../strings';
import { createArticle, type EntryFactory } from './entryView';

export const createGapEntry: EntryFactory = (stored, _index, context) => {
  const element = createArticle(stored.item, strings.gap);
  const line = el('div', 'gap-line');
  element.append(line);

  function draw(): void {
    const { item } = stored;
    if (item.kind !== 'gap') return;
    const { retryId } = item;
    line.replaceChildren(icon(item.loading ? 'loading' : 'ellipsis'), el('span', 'gap-text', item.text));
    if (retryId === undefined) return;
    line.append(button('text-button', strings.retryGap, () => context.post({ type: 'retryGap', id: retryId })));
  }

  draw();
  return { element, update: draw };
};
