// An error in the transcript: what happened, what the user can do, and the last lines of stderr if
// relevant.
import { effect } from '@preact/signals';
import { button, el, icon } from '../dom/dom';
import { session } from '../host/session';
import { createText } from '../output/plainText';
import { strings } from '../text/strings';
import { createArticle, type EntryFactory, markLate } from './entryView';
import { createFold } from './fold';

export const createErrorEntry: EntryFactory = (stored, _index, context) => {
  const element = createArticle(stored.item, strings.error);
  const body = el('div', 'error-box');
  element.append(body);
  const actions = el('div', 'error-actions');

  function draw(): void {
    const { item } = stored;
    if (item.kind !== 'error') return;
    const words = el('div', 'words', createText('error-text', item.text));
    if (item.hint) words.append(el('p', 'hint', item.hint));
    actions.replaceChildren(
      ...(item.actions ?? []).map(({ id, label }) =>
        button('secondary small', label, () => context.post({ type: 'action', id })),
      ),
    );
    if (item.actions) words.append(actions);
    if (item.stderr) words.append(createFold(strings.stderr, item.stderr, context, true));
    body.replaceChildren(icon('error'), words);
    body.title = item.code;
  }

  /** Only the latest turn can be sent again. */
  function offer(failedTurnId: string | undefined): void {
    const isOffered = stored.item.turnId !== undefined && stored.item.turnId === failedTurnId;
    if (!isOffered && actions.contains(document.activeElement)) element.focus();
    actions.hidden = !isOffered;
  }

  draw();
  const dispose = effect(() => offer(session.failedTurnId.value));
  return {
    element,
    update() {
      markLate(element, stored.item);
      draw();
    },
    dispose,
  };
};
