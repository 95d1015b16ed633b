// Formulas: shown as they were written, and drawn by a script of its own that is loaded for the first one.
import { revealControls } from '../../base/revealControls';
import { el, setAttributes } from '../dom/dom';
import { fileUrl } from '../dom/pageStyles';

/** Until the script is loaded. */
let waiting: HTMLElement[] | undefined;
let draw: ((element: HTMLElement) => void) | undefined;

/**
 * Shows a formula with its marks.
 * @param element its place in the text
 * @param isOpen its end has not come yet, so that it is not drawn
 */
export function renderFormula<T extends HTMLElement>(source: string, element: T, isOpen = false): T {
  element.append(el('code', '', revealControls(source)));
  element.className = 'formula';
  if (isOpen) return element;
  setAttributes(element, { 'data-formula': source, tabindex: element.tagName === 'DIV' ? '0' : undefined });
  if (draw) {
    draw(element);
  } else if (waiting) {
    waiting.push(element);
  } else {
    waiting = [element];
    // Formulas stay as they were written if the script cannot be loaded; the failure was reported.
    void import(fileUrl('math.mjs')).then(({ drawFormula }: { readonly drawFormula: typeof draw }) => {
      draw = drawFormula!;
      for (const one of waiting!.splice(0)) draw(one);
    });
  }
  return element;
}
