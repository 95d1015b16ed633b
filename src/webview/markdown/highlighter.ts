// The lazily loaded highlighter: renders lowlight's tree as spans.

import type { Element, ElementContent, Root } from 'hast';
import { createLowlight } from 'lowlight';
import { markWords } from '../output/changedWords';
import { colorChunks } from './colorChunks';
import { colorDiff } from './colorDiff';
import * as grammars from './grammars';

export { markWords };

const lowlight = createLowlight({ ...grammars });
lowlight.registerAlias({ json: ['jsonc', 'json5'], ini: ['toml', 'conf'], bash: ['console'] });

export function highlightCode(code: HTMLElement, text: string, lang: string): Iterator<void> {
  return colorCode(code, text, highlighterOf(lang));
}

export function highlightDiff(lines: HTMLElement, lang: string): Iterator<void> {
  return colorDiff(lines, highlighterOf(lang));
}

function highlighterOf(lang: string): (text: string) => DocumentFragment | undefined {
  const name = lang.toLowerCase().replace(/^\{?\.?|\}$/g, '');
  return (text) => (lowlight.registered(name) ? draw(lowlight.highlight(name, text)) : undefined);
}

function draw(root: Root): DocumentFragment {
  const fragment = document.createDocumentFragment();
  for (const child of root.children) append(fragment, child as ElementContent);
  return fragment;
}

function append(parent: Node, node: ElementContent): void {
  if (node.type === 'text') parent.appendChild(document.createTextNode(node.value));
  else if (node.type === 'element') parent.appendChild(drawElement(node));
}

function drawElement(element: Element): HTMLElement {
  const span = document.createElement('span');
  const names = element.properties.className;
  if (Array.isArray(names)) span.className = names.join(' ');
  for (const child of element.children) append(span, child);
  return span;
}

/** Maximum number of tokens per block. The rest stays plain. */
const MAX_TOKENS = 2_500;

/**
 * Highlights a part per step; the last step draws all of them.
 * @param highlight returns undefined for an unknown language
 */
function* colorCode(
  code: HTMLElement,
  text: string,
  highlight: (text: string) => DocumentFragment | undefined,
): Generator<void, void> {
  const colored = document.createDocumentFragment();
  for (const { text: part, plain } of colorChunks(text)) {
    const nodes = plain || colored.querySelectorAll('span').length > MAX_TOKENS ? part : highlight(part);
    if (nodes === undefined) return;
    colored.append(nodes);
    yield;
  }
  // If a later part has continued the last line, the block stays plain.
  if (code.childNodes.length === 1) code.replaceChildren(colored);
}
