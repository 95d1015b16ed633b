// A fenced code block: language and actions above the text, highlighted once complete.

import { revealControls } from '../../base/revealControls';
import { type CodeAction, MAX_CODE_PATH, MAX_LANG } from '../../panel/contract';
import { button, el, icon, iconButton, link, setAttributes, setIcon } from '../dom/dom';
import type { IconName } from '../dom/icons';
import { copyText, openLink, post } from '../host/host';
import { strings, zoomStrings } from '../text/strings';
import { HIGHLIGHT_DELAY_MS, highlightLater } from './highlightLater';
import { loadDiagrams } from './scripts';

export interface CodeBlock {
  readonly element: HTMLElement;
  readonly code: HTMLElement;
  /** If the text extends the old one, only the rest is appended. */
  setText(text: string): void;
  /** Call it when the text is complete: highlights it. */
  close(): void;
}

interface Parts {
  readonly group: number;
  text(): string;
  isComplete(): boolean;
  isWrapped(): boolean;
  wrap(isWrapped: boolean): void;
}

const RUNNABLE: ReadonlySet<string> = new Set(
  'sh bash zsh fish shell console shell-session powershell pwsh ps1 bat cmd'.split(' '),
);
const ACTIONS: readonly (readonly [CodeAction, IconName, string])[] = [
  ['insert', 'insert', strings.insertCode],
  ['apply', 'diff', strings.applyCode],
  ['open', 'go-to-file', strings.openCode],
  ['run', 'terminal', strings.runCode],
];

function isFor(action: CodeAction, lang: string): boolean {
  return action !== 'run' || RUNNABLE.has(lang);
}

/**
 * @param options.continued a later part of a block; `hasNext`: another part follows; `parts`: the
 * block may be split, and hides actions that need all of it until {@link showComplete}; `title`:
 * the file name of the code
 */
export function createCodeBlock(
  lang: string,
  text: string,
  context: { unpin(): void },
  options: {
    readonly open?: boolean;
    readonly continued?: boolean;
    readonly hasNext?: boolean;
    readonly parts?: Parts;
    readonly title?: string;
  } = {},
): CodeBlock {
  let shown = revealControls(text);
  let source = text;
  const node = document.createTextNode(shown);
  const isDiagram = lang.toLowerCase() === 'mermaid';
  const code = el('code', '', node);
  const pre = setAttributes(el('pre', '', code), { tabindex: '0', dir: 'ltr' });
  const element = el('div', 'code-block');
  const { parts, title = '' } = options;
  const path = title.length <= MAX_CODE_PATH ? title : '';
  let isWrapped = parts?.isWrapped() ?? false;
  element.classList.toggle('wrap', isWrapped);
  if (parts) element.dataset.code = String(parts.group);
  if (options.hasNext) element.classList.add('goes-on');
  if (options.continued) {
    element.classList.add('continued');
  } else {
    const head = el('div', 'code-head', el('span', 'lang', revealControls(lang)));
    if (path) {
      element.classList.add('titled');
      const name = revealControls(path);
      head.append(link('link file', name, name, () => openLink(path)));
    }
    element.append(head);
    addButtonsLater(element, () => {
      const actions = ACTIONS.filter(([action]) => isFor(action, lang.toLowerCase())).map(([action, name, label]) => {
        const control = iconButton(name, label, () => {
          const text = parts?.text() ?? source;
          post({ type: 'useCode', action, text, lang: lang.slice(0, MAX_LANG), path: path || undefined });
        });
        // A part of a file would replace the whole file.
        if (parts && action === 'apply') {
          control.classList.add('for-complete');
          control.hidden = !parts.isComplete();
        }
        return control;
      });
      const wrap = setAttributes(
        button('icon-button', '↵', () => {
          context.unpin();
          isWrapped = element.classList.toggle('wrap');
          wrap.ariaPressed = String(isWrapped);
          parts?.wrap(isWrapped);
        }),
        { 'aria-label': strings.wrapCode, title: strings.wrapCode, 'aria-pressed': String(isWrapped) },
      );
      head.append(
        wrap,
        ...(isDiagram ? [sourceButton(element, () => context.unpin())] : []),
        ...actions,
        copyButton(() => copyText(parts?.text() ?? source)),
      );
    });
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
      if (!isDiagram) highlightLater(code, shown, lang);
      // Part of a diagram cannot be drawn.
      else if (!parts || (parts.isComplete() && parts.text() === source)) void draw(element, shown);
    },
  };
  if (!options.open) block.close();
  return block;
}

async function draw(block: HTMLElement, source: string): Promise<void> {
  const words = { ...strings.diagrams, zoom: zoomStrings };
  const save = (svg: string): void => post({ type: 'useCode', action: 'savePicture', text: svg, lang: 'svg' });
  (await loadDiagrams())?.drawDiagram(block, source, { words, save });
}

function sourceButton(block: HTMLElement, unpin: () => void): HTMLButtonElement {
  const toggle = iconButton('code', strings.diagrams.source, () => {
    unpin();
    const label = block.classList.toggle('source') ? strings.diagrams.picture : strings.diagrams.source;
    setAttributes(toggle, { 'aria-label': label, title: label });
  });
  toggle.classList.add('for-drawn');
  return toggle;
}

/**
 * Adds the buttons when the block is entered, or after a delay: most blocks of a flood are removed
 * before.
 */
function addButtonsLater(element: HTMLElement, add: () => void): void {
  let isDone = false;
  const addOnce = (): void => {
    if (!isDone) add();
    isDone = true;
  };
  element.addEventListener('pointerenter', addOnce, { once: true });
  element.addEventListener('focusin', addOnce, { once: true });
  setTimeout(() => requestIdleCallback(() => element.isConnected && addOnce()), HIGHLIGHT_DELAY_MS);
}

function copyButton(copy: () => void): HTMLButtonElement {
  const glyph = icon('copy');
  const element = button('copy', '', () => {
    copy();
    setIcon(glyph, 'check');
    setTimeout(() => setIcon(glyph, 'copy'), 1500);
  });
  element.append(glyph, el('span', '', strings.copy));
  return element;
}

export function showComplete(view: Element, group: number): void {
  for (const button of view.querySelectorAll<HTMLElement>(`[data-code="${group}"] .for-complete`))
    button.hidden = false;
}

/**
 * Continues the last line of a block, without highlighting, as for any line that long.
 * @param hasNext another part follows
 */
export function continueLine(
  code: HTMLElement,
  text: string,
  hasNext: boolean,
): Pick<CodeBlock, 'setText' | 'close'> & { readonly node: Text } {
  const node = document.createTextNode(revealControls(text));
  code.append(node);
  code.closest('.code-block')?.classList.toggle('goes-on', hasNext);
  return {
    node,
    setText(next) {
      node.data = revealControls(next);
    },
    close() {},
  };
}
