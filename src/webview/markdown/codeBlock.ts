// A fenced code block: its language and a Copy button above the text, highlighted when it is
// complete.

import { revealControls } from '../../base/revealControls';
import { button, el, icon, setAttributes } from '../dom/dom';
import { strings } from '../text/strings';
import { highlightLater } from './highlightLater';

export interface CodeBlock {
  readonly element: HTMLElement;
  readonly code: HTMLElement;
  /** Replaces the text; if the new text starts with the old one, only the rest is appended. */
  setText(text: string): void;
  /** The text is complete: highlight it. */
  close(): void;
}

/**
 * @param lang the info string, '' for none
 * @param options.continued this is a later part of a block; `goesOn`: another part follows;
 * `whole`: the text to copy, if more than this part
 */
export function createCodeBlock(
  lang: string,
  text: string,
  context: { copy(text: string): void },
  options: {
    readonly open?: boolean;
    readonly continued?: boolean;
    readonly goesOn?: boolean;
    readonly whole?: () => string;
  } = {},
): CodeBlock {
  let shown = revealControls(text);
  let source = text;
  const node = document.createTextNode(shown);
  const code = el('code', '', node);
  const pre = setAttributes(el('pre', '', code), { tabindex: '0', dir: 'ltr' });
  const element = el('div', 'code-block');
  if (options.goesOn) element.classList.add('goes-on');
  if (options.continued) {
    element.classList.add('continued');
  } else {
    const copy = button('copy', '', () => {
      context.copy(options.whole?.() ?? source);
      glyph.className = 'codicon codicon-check';
      setTimeout(() => {
        glyph.className = 'codicon codicon-copy';
      }, 1500);
    });
    const glyph = icon('copy');
    copy.append(glyph, el('span', '', strings.copy));
    element.append(el('div', 'code-head', el('span', 'lang', revealControls(lang)), copy));
  }
  element.append(pre);
  const block: CodeBlock = {
    element,
    code,
    setText(next) {
      source = next;
      const visible = revealControls(next);
      if (visible === shown) return;
      if (visible.startsWith(shown)) node.appendData(visible.slice(shown.length));
      else node.data = visible;
      shown = visible;
    },
    close() {
      highlightLater(code, shown, lang);
    },
  };
  if (!options.open) block.close();
  return block;
}

/**
 * Continues the last line of a block: text is appended to the same line, without highlighting, as
 * for any line of that length.
 * @param goesOn another part follows
 */
export function continueLine(
  code: HTMLElement,
  text: string,
  goesOn: boolean,
): Pick<CodeBlock, 'setText' | 'close'> & { readonly node: Text } {
  const node = document.createTextNode(revealControls(text));
  code.append(node);
  code.closest('.code-block')?.classList.toggle('goes-on', goesOn);
  return {
    node,
    setText(next) {
      node.data = revealControls(next);
    },
    close() {},
  };
}
