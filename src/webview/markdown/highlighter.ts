// The lazily loaded chunk: lowlight with the most common languages, rendering its tree as spans.

import type { Element, ElementContent, Root } from 'hast';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import markdown from 'highlight.js/lib/languages/markdown';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import shell from 'highlight.js/lib/languages/shell';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import { markWords } from '../output/changedWords';
import { colorChunks } from './colorChunks';
import { colorDiff } from './colorDiff';

export { markWords };

const lowlight = createLowlight({
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  markdown,
  php,
  python,
  ruby,
  rust,
  shell,
  sql,
  swift,
  typescript,
  xml,
  yaml,
});
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
const MOST_SPANS = 2_500;

/**
 * Highlights a part with each step; the last one draws them all.
 * @param highlight returns undefined for an unknown language
 */
function* colorCode(
  code: HTMLElement,
  text: string,
  highlight: (text: string) => DocumentFragment | undefined,
): Generator<void, void> {
  const colored = document.createDocumentFragment();
  for (const { text: part, plain } of colorChunks(text)) {
    const nodes = plain || colored.querySelectorAll('span').length > MOST_SPANS ? part : highlight(part);
    if (nodes === undefined) return;
    colored.append(nodes);
    yield;
  }
  // A later part may have continued its last line: then it stays plain.
  if (code.childNodes.length === 1) code.replaceChildren(colored);
}
