// Draws the syntax colours of a code block.
import { colorChunks } from './colorChunks';

/** Maximum number of tokens per block. The rest stays plain. */
const MOST_SPANS = 2_500;

/**
 * Highlights a part with each step; the last one draws them all.
 * @param highlight returns undefined for an unknown language
 */
export function* colorCode(
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
