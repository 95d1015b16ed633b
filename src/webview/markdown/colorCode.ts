// Draws the syntax colours of a code block.
import { colorChunks } from './colorChunks';

/** Maximum number of highlighted tokens per block; the rest stays plain. */
const MOST_SPANS = 2_500;

/**
 * Highlights the next part with each step. The last step draws them all.
 * @param text the text of `code`
 * @param highlight returns the highlighted text; undefined for an unknown language
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
  // A later part continues its last line: it stays plain.
  if (code.childNodes.length === 1) code.replaceChildren(colored);
}
