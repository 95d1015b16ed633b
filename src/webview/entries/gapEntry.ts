// A missing part of the transcript: the reason, and a button to request it.
import { revealControls } from '../../base/revealControls';
import { button, el, icon } from '../dom/dom';
import { strings } from '../text/strings';
import { createArticle, type EntryFactory } from './entryView';

export const createGapEntry: EntryFactory = (stored, _index, context) => {
  const element = createArticle(stored.item, strings.gap);
  const line = el('div', 'gap-line');
  element.append(line);

  function draw(): void {
    const { item } = stored;
    if (item.kind !== 'gap') return;
    const { retryId } = item;
    const symbol = item.loading ? 'loading' : item.unloaded ? 'file' : 'ellipsis';
    line.replaceChildren(icon(symbol), el('span', 'gap-text', revealControls(item.text)));
    const isMissing = retryId !== undefined && !item.unloaded;
    element.classList.toggle('missing', isMissing);
    if (retryId === undefined) return;
    const label = item.unloaded ? strings.loadPart : strings.retryGap;
    line.append(button('text-button', label, () => context.post({ type: 'retryGap', id: retryId })));
    if (isMissing)
      line.append(button('text-button retry-all', strings.retryGaps, () => context.post({ type: 'retryGaps' })));
  }

  draw();
  return { element, update: draw };
};
