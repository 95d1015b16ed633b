// The few helpers for drawing with the DOM itself, on the paths where a framework's comparison would cost more than the change.
import type { IconName } from './icons';

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Makes an element with a class and children; strings become text nodes, never markup. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = '',
  ...children: readonly (Node | string | undefined)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

/** Sets attributes; `undefined` and `false` remove one, `true` sets it empty. */
export function setAttributes<T extends Element>(element: T, attributes: Attributes): T {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  return element;
}

/** An icon that assistive technology does not hear; with `label`, the label is heard in its place. */
export function icon(name: IconName, label?: string): HTMLElement {
  const glyph = setAttributes(el('span', `codicon codicon-${name}`), { 'aria-hidden': 'true' });
  return label === undefined ? glyph : el('span', 'icon-with-label', glyph, el('span', 'sr-only', label));
}

/** A button that never submits. */
export function button(className: string, label: string, onClick: (event: MouseEvent) => void): HTMLButtonElement {
  const element = el('button', className, label);
  element.type = 'button';
  element.addEventListener('click', onClick);
  return element;
}

/** A button that shows only an icon; `label` is its name and tooltip. */
export function iconButton(name: IconName, label: string, onClick: (event: MouseEvent) => void): HTMLButtonElement {
  const element = button('icon-button', '', onClick);
  element.append(icon(name));
  return setAttributes(element, { 'aria-label': label, title: label });
}

/** Text that acts as a link. It has no address: the host is asked, and decides. */
export function link(className: string, content: Node | string, title: string, onOpen: () => void): HTMLAnchorElement {
  const element = el('a', className, content);
  setAttributes(element, { role: 'link', tabindex: '0', title });
  element.addEventListener('click', (event) => {
    event.preventDefault();
    event.stopPropagation();
    onOpen();
  });
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    event.stopPropagation();
    onOpen();
  });
  return element;
}

/** Whether a key belongs to an input method that composes: Enter, Escape and the arrows are its own then. */
export function isComposing({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229;
}
