// Formulas: shown as they were written, and drawn by a script that is loaded for the first one.
import { revealControls } from '../../base/revealControls';
import { el, setAttributes } from '../dom/dom';
import { strings } from '../text/strings';
import { loadMath } from './scripts';

/** @param isOpen the end of the formula is missing: it is not drawn */
export function renderFormula<T extends HTMLElement>(source: string, element: T, isOpen = false): T {
  element.append(el('code', '', revealControls(source)));
  element.className = 'formula';
  if (isOpen) return element;
  setAttributes(element, { 'data-formula': source, tabindex: element.tagName === 'DIV' ? '0' : undefined });
  void loadMath().then((math) => math?.drawFormula(element, strings.formulas));
  return element;
}
