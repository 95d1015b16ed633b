// Single-line entries: notices, errors, and missing parts of the transcript.

import { effect } from '@preact/signals';
import { revealControls } from '../../base/revealControls';
import type { ItemView } from '../../panel/contract';
import { button, el, icon, setAttributes } from '../dom/dom';
import type { IconName } from '../dom/icons';
import { post } from '../host/host';
import { session } from '../host/session';
import { createText } from '../output/plainText';
import { strings } from '../text/strings';
import { createArticle, type EntryFactory, markLate } from './entryView';
import { createFold } from './fold';

interface Drawn {
  readonly element: HTMLElement;
  readonly line: HTMLElement;
}

/** @param draw returns the parts of the line; called on each change */
function lineEntry<K extends ItemView['kind']>(
  label: string,
  className: string,
  draw: (item: Extract<ItemView, { kind: K }>, drawn: Drawn) => readonly HTMLElement[],
): EntryFactory {
  return (stored) => {
    const line = el('div', className);
    const element = createArticle(stored.item, label);
    element.append(line);
    const update = (): void => {
      markLate(element, stored.item);
      line.replaceChildren(...draw(stored.item as Extract<ItemView, { kind: K }>, { element, line }));
    };
    update();
    return { element, update };
  };
}

const ICONS: Readonly<Record<string, IconName>> = { warning: 'warning', error: 'error', busy: 'loading' };

export const createNoticeEntry = lineEntry<'notice'>(strings.notice, 'notice-body', (item, { element }) => {
  const { severity, title, text, detail, json, action } = item;
  element.dataset.severity = severity;
  const words = el('div', 'words', el('span', 'notice-title', title));
  if (text) words.append(createText('notice-text', text));
  if (detail) words.append(createFold(strings.summary, detail));
  if (json) words.append(createFold(strings.raw, json));
  if (action) {
    const act = button('text-button', action.label, () => post({ type: 'action', id: action.id }));
    words.append(' ', act);
  }
  // Set last, as the browser determines the direction again for each node added.
  setAttributes(words, { dir: 'auto' });
  return [icon(ICONS[severity] ?? 'info'), words];
});

export const createGapEntry = lineEntry<'gap'>(strings.gap, 'gap-line', (item, { element }) => {
  const { retryId, loading, unloaded, text } = item;
  const isMissing = retryId !== undefined && !unloaded;
  element.classList.toggle('missing', isMissing);
  const parts = [
    icon(loading ? 'loading' : unloaded ? 'file' : 'ellipsis'),
    el('span', 'gap-text', revealControls(text)),
  ];
  if (retryId !== undefined) {
    const label = unloaded ? strings.loadPart : strings.retryGap;
    parts.push(button('text-button', label, () => post({ type: 'retryGap', id: retryId })));
  }
  if (isMissing) parts.push(button('text-button retry-all', strings.retryGaps, () => post({ type: 'retryGaps' })));
  return parts;
});

export const createErrorEntry: EntryFactory = (stored, index, context) => {
  const buttons = el('div', 'error-actions');
  const create = lineEntry<'error'>(strings.error, 'error-box', (item, { line }) => {
    const { code, text, hint, actions = [], stderr } = item;
    const words = el('div', 'words', createText('error-text', text));
    if (hint) words.append(el('p', 'hint', hint));
    buttons.replaceChildren(
      ...actions.map(({ id, label }) => button('secondary small', label, () => post({ type: 'action', id }))),
    );
    if (actions.length > 0) words.append(buttons);
    if (stderr) words.append(createFold(strings.stderr, stderr, true));
    line.title = code;
    return [icon('error'), words];
  });
  const view = create(stored, index, context);
  const dispose = effect(() => {
    // Only the latest turn can be resent.
    const failed = session.failedTurnId.value;
    const isOffered = failed !== undefined && stored.item.turnId === failed;
    if (!isOffered && buttons.contains(document.activeElement)) view.element.focus();
    buttons.hidden = !isOffered;
  });
  return { ...view, dispose };
};
