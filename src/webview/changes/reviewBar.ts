// The bar above the composer while changes wait for review: how many, all at once, and the list.
import type { ChangesAction } from '../../panel/contract';
import { button, el, icon, iconButton, setAttributes } from '../dom/dom';
import { strings } from '../text/changesStrings';
import { whileIdle, workLabel } from './changesWork';
import { countedLines, linesLabel } from './lineCounts';
import { ListFold } from './listFold';
import { panel } from './panelServices';
import { pressGuard } from './pressGuard';

export function createReviewBar(): HTMLElement {
  const act = (kind: ChangesAction['kind']) => (): void => panel.post({ type: 'changesAction', kind, scope: 'review' });
  const toggle = iconButton('chevron-right', strings.changedFiles, () => {});
  const review = button('text-button review-open', '', act('open'));
  const lines = el('span', 'changes-lines');
  const keep = button('secondary small', strings.keepAll, () => {});
  const undo = button('secondary small', strings.undoAll, () => {});
  pressGuard.watch(keep, act('keep'));
  pressGuard.watch(undo, act('undo'));
  const work = setAttributes(el('span', 'review-work'), { role: 'status' });
  const cancel = button('secondary small', strings.cancel, () => panel.post({ type: 'cancelChanges' }));
  const buttons = el('span', 'review-buttons', keep, undo, cancel);
  const head = el('div', 'review-line', el('span', 'review-words', toggle, review, lines), work, buttons);
  const incomplete = el('p', 'changes-incomplete dim');
  const fold = new ListFold('review', toggle);
  const element = setAttributes(el('section', 'review', head, incomplete, fold.body), {
    'aria-label': strings.reviewChanges,
  });
  whileIdle([keep, undo]);

  panel.effect(() => {
    const count = panel.review.value;
    const busy = panel.changesWork.value;
    const hadFocus = element.contains(document.activeElement);
    element.hidden = count === undefined && busy === undefined;
    for (const one of [toggle, review, lines]) one.hidden = count === undefined;
    for (const one of [keep, undo]) one.hidden = busy !== undefined || count === undefined;
    cancel.hidden = busy === undefined;
    work.hidden = busy === undefined;
    work.replaceChildren(...(busy ? [icon('loading'), workLabel(busy)] : []));
    incomplete.hidden = count?.incomplete === undefined;
    incomplete.textContent = count?.incomplete ?? '';
    if (count) {
      review.textContent = strings.reviewFiles(count.files);
      review.title = `${strings.reviewChanges}, ${linesLabel(count)}`;
      lines.replaceChildren(countedLines(count));
    }
    fold.setCount(count ?? { files: 0, added: 0, removed: 0, version: -1 });
    // A hidden button drops the focus.
    if (!hadFocus || document.activeElement !== document.body) return;
    if (element.hidden) panel.toComposer();
    else (busy ? cancel : review).focus({ preventScroll: true });
  });
  return element;
}
