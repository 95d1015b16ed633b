// A place where something is missing from the transcript.
import { el, icon } from '../dom';
import { strings } from '../strings';
import { createArticle, type EntryFactory } from './entryView';

export const createGapEntry: EntryFactory = (stored) => {
  const element = createArticle(stored.item, strings.gap);
  const text = el('span');
  element.append(el('div', 'gap-line', icon('ellipsis'), text));

  function draw(): void {
    if (stored.item.kind === 'gap') text.textContent = stored.item.text;
  }

  draw();
  return { element, update: draw };
};
