// Draws the syntax colours of a diff. The old and the new text of each hunk are highlighted
// separately, so that multi-line strings and comments are right in both.
import { LONGEST_LINE, wrapPart } from '../output/diffLine';
import { colorChunks } from './colorChunks';

/** Maximum number of tokens per diff. The rest stays plain. */
const MAX_TOKENS = 4_000;

/**
 * Highlights some lines per step.
 * @param highlight returns undefined for an unknown language
 */
export function* colorDiff(
  lines: Element,
  highlight: (text: string) => DocumentFragment | undefined,
): Generator<void, void> {
  let remaining = MAX_TOKENS;
  for (const hunk of hunksOf(lines)) {
    for (const other of ['removed', 'added']) {
      const side = hunk.filter(({ classList }) => !classList.contains(other));
      // Unchanged lines get the colours of the new text.
      const isPainted = ({ className }: Element): boolean => other === 'removed' || className.includes('removed');
      if (!side.some(isPainted)) continue;
      let first = 0;
      for (const { text, plain } of colorChunks(side.map(textOf).join('\n'), LONGEST_LINE + 1)) {
        const tokens = plain ? [] : tokensOf(highlight(text));
        if (!tokens || remaining < 0) return;
        remaining -= tokens.length;
        let start = 0;
        for (const line of side.slice(first, first + text.split('\n').length)) {
          const end = start + textOf(line).length;
          if (isPainted(line))
            for (const token of tokens)
              if (token.start < end && token.end > start)
                wrapPart(line, token.start - start, token.end - start, token.className);
          start = end + 1;
        }
        first += text.split('\n').length - 1;
        yield;
      }
    }
  }
}

function textOf(node: Node): string {
  return node.textContent!;
}

function hunksOf(lines: Element): readonly (readonly Element[])[] {
  const hunks: Element[][] = [[]];
  for (const line of lines.children) {
    if (line.className === 'diff-gap') hunks.push([]);
    else hunks.at(-1)!.push(line);
  }
  return hunks;
}

interface Token {
  readonly start: number;
  readonly end: number;
  readonly className: string;
}

/** Outer tokens come before the ones inside them. */
function tokensOf(colored: DocumentFragment | undefined): readonly Token[] | undefined {
  if (!colored) return undefined;
  const tokens: Token[] = [];
  const walker = document.createTreeWalker(colored);
  let start = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const end = start + textOf(node).length;
    if (node instanceof Element) tokens.push({ start, end, className: node.className });
    else start = end;
  }
  return tokens;
}
