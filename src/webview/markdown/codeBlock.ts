// A fenced code block: its language and what can be done with it above the text, highlighted when it
// is complete.

import { revealControls } from '../../base/revealControls';
import { type CodeAction, MAX_LANG } from '../../panel/contract';
import { button, el, icon, iconButton, link, setAttributes } from '../dom/dom';
import type { IconName } from '../dom/icons';
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

/** What code blocks need from the panel. */
export interface CodeContext {
  copy(text: string): void;
  openLink(href: string): void;
  useCode(action: CodeAction, text: string, lang: string): void;
}

/** Characters of a path. */
const MAX_TITLE = 300;
/** Languages of command lines, which can be run in a terminal. */
const RUNNABLE: ReadonlySet<string> = new Set(
  'sh bash zsh fish shell console shell-session powershell pwsh ps1 bat cmd'.split(' '),
);
const ACTIONS: readonly (readonly [CodeAction, IconName, string])[] = [
  ['insert', 'insert', strings.insertCode],
  ['open', 'go-to-file', strings.openCode],
  ['run', 'terminal', strings.runCode],
  ['draw', 'file-media', strings.drawCode],
];

function isFor(action: CodeAction, lang: string): boolean {
  if (action === 'draw') return lang === 'mermaid';
  return action !== 'run' || RUNNABLE.has(lang);
}

/**
 * @param lang the info string, '' for none
 * @param options.continued this is a later part of a block; `goesOn`: another part follows;
 * `whole`: the text to copy, if more than this part; `title`: the file that the code is from or for
 */
export function createCodeBlock(
  lang: string,
  text: string,
  context: CodeContext,
  options: {
    readonly open?: boolean;
    readonly continued?: boolean;
    readonly goesOn?: boolean;
    readonly whole?: () => string;
    readonly title?: string;
  } = {},
): CodeBlock {
  let shown = revealControls(text);
  let source = text;
  let drawButton: HTMLElement | undefined;
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
    const actions = ACTIONS.filter(([action]) => isFor(action, lang.toLowerCase())).map(([action, name, label]) => {
      const use = (): void => context.useCode(action, options.whole?.() ?? source, lang.slice(0, MAX_LANG));
      const one = iconButton(name, label, use);
      // A part of a diagram is none.
      if (action === 'draw') {
        drawButton = one;
        one.hidden = true;
      }
      return one;
    });
    const { title } = options;
    const head = el('div', 'code-head', el('span', 'lang', revealControls(lang)));
    if (title !== undefined && title.length <= MAX_TITLE) {
      element.classList.add('titled');
      const name = revealControls(title);
      head.append(link('link file', name, name, () => context.openLink(title)));
    }
    head.append(el('span', 'grow'), ...actions, copy);
    element.append(head);
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
      if (drawButton) drawButton.hidden = false;
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
