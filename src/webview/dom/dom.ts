// Helpers that create DOM nodes directly, for places where a framework's diffing is too expensive.
import { GLYPHS, type IconName } from './icons';

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

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

export function setAttributes<T extends Element>(element: T, attributes: Attributes): T {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  return element;
}

export function icon(name: IconName, label?: string): HTMLElement {
  const glyph = setAttributes(setIcon(el('span'), name), { 'aria-hidden': 'true' });
  return label === undefined ? glyph : el('span', 'icon-with-label', glyph, el('span', 'sr-only', label));
}

/** Makes an element show an icon, replacing all its classes. */
export function setIcon<T extends HTMLElement>(element: T, name: IconName): T {
  element.className = `codicon codicon-${name}`;
  element.dataset.glyph = GLYPHS[name];
  return element;
}

export function button(className: string, label: string, onClick: (event: MouseEvent) => void): HTMLButtonElement {
  const element = el('button', className, label);
  element.type = 'button';
  element.addEventListener('click', onClick);
  return element;
}

export function iconButton(name: IconName, label: string, onClick: (event: MouseEvent) => void): HTMLButtonElement {
  const element = button(`icon-button codicon codicon-${name}`, '', onClick);
  return setAttributes(element, { 'aria-label': label, title: label, 'data-glyph': GLYPHS[name] });
}

/** Creates a link without a URL: the host decides what to open. */
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

/** Returns whether an input method is composing; it uses Enter, Escape and the arrow keys. */
export function isComposing({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229;
}
