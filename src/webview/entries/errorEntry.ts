// A failure in the transcript: what happened, what can be done, and the last lines of stderr where they help.
import { el, icon } from '../dom';
import { createText } from '../plainText';
import { strings } from '../strings';
import { createArticle, type EntryFactory, markLate } from './entryView';
import { createFold } from './fold';

export const createErrorEntry: EntryFactory = (stored, _index, context) => {
  const element = createArticle(stored.item, strings.error);
  const body = el('div', 'error-box');
  element.append(body);

  function draw(): void {
    const { item } = stored;
    if (item.kind !== 'error') return;
    const words = el('div', 'words', createText('error-text', item.text));
    if (item.hint) words.append(el('p', 'hint', item.hint));
    if (item.stderr) words.append(createFold(strings.stderr, item.stderr, context));
    body.replaceChildren(icon('error'), words);
    body.title = item.code;
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
