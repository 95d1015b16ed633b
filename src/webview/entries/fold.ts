// A collapsed line that expands to a long plain text: JSON, stderr, an embedded file.

import { revealControls } from '../../base/revealControls';
import { el, icon, iconButton, setAttributes } from '../dom/dom';
import { copyText } from '../host/host';
import { createAskedText, LONG } from '../output/askedText';
import { strings } from '../text/strings';

const MAX_CHARS = 20_000;

/** @param asked the user approves the text: shows its start and end without a scroll box */
export function createFold(label: string, text: string, isOpen = false, asked = false): HTMLElement {
  const summary = el('summary', '', icon('chevron-right'), el('span', '', label));
  const details = el('details', 'fold', summary);
  const draw = (): void => {
    if (!details.open || details.childElementCount > 1) return;
    const shown = text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}\n…` : text;
    const pre = asked
      ? createAskedText('', text, LONG)
      : setAttributes(el('pre', 'plain', revealControls(shown)), { tabindex: '0', dir: 'ltr' });
    details.append(
      el(
        'div',
        'fold-body',
        iconButton('copy', strings.copy, () => copyText(text)),
        pre,
      ),
    );
  };
  details.addEventListener('toggle', draw);
  details.open = isOpen;
  draw();
  return details;
}
