// Helpers for creating DOM nodes directly, where a framework's diffing would cost more than the
// change.
import type { IconName } from './icons';

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Creates an element with a class and children. Strings become text nodes, never markup. */
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

/** Sets attributes; `undefined` and `false` remove one, `true` sets an empty value. */
export function setAttributes<T extends Element>(element: T, attributes: Attributes): T {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  return element;
}

/**
 * Creates an icon hidden from assistive technology; with `label`, the label is announced instead.
 */
export function icon(name: IconName, label?: string): HTMLElement {
  const glyph = setAttributes(el('span', `codicon codicon-${name}`), { 'aria-hidden': 'true' });
  return label === undefined ? glyph : el('span', 'icon-with-label', glyph, el('span', 'sr-only', label));
}

/** Creates a button that never submits. */
export function button(className: string, label: string, onClick: (event: MouseEvent) => void): HTMLButtonElement {
  const element = el('button', className, label);
  element.type = 'button';
  element.addEventListener('click', onClick);
  return element;
}

/** Creates a button with only an icon; `label` is its name and tooltip. */
export function iconButton(name: IconName, label: string, onClick: (event: MouseEvent) => void): HTMLButtonElement {
  const element = button(`icon-button codicon codicon-${name}`, '', onClick);
  return setAttributes(element, { 'aria-label': label, title: label });
}

/** Creates text that acts as a link. It has no URL: the host decides what to open. */
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

/**
 * Returns whether a key belongs to an active input method composition, which uses Enter, Escape and
 * the arrows itself.
 */
export function isComposing({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229;
}
