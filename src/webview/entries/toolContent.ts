// Content of a tool call: a diff, a terminal, or a content block.

import { cleanOutput } from '../../base/ansi';
import { revealControls } from '../../base/revealControls';
import type { ToolContentView } from '../../panel/contract';
import { button, el, setAttributes } from '../dom/dom';
import { openLink, post } from '../host/host';
import { highlightDiffLater } from '../markdown/highlightLater';
import { MarkdownView, type MarkdownViewContext } from '../markdown/markdownView';
import { createAskedText, LONG } from '../output/askedText';
import { createDiff } from '../output/diffView';
import { createTerminalOutput, drawAnsi, linesAbove, type TerminalOutput } from '../output/terminalOutput';
import { lastLines, shortLines } from '../text/format';
import { strings } from '../text/strings';
import { createBlock } from './blocks';
import type { EntryContext } from './entryView';
import { createFold } from './fold';
import { type ToolItem, toolLabel, withoutFence } from './toolLabel';

interface Place {
  /** Transcript index of the tool call, and index of the content. */
  readonly index: number;
  readonly position: number;
  readonly expanded: boolean;
  readonly asked: boolean;
}

const LONGEST_MARKDOWN = 20_000;
const TAIL_LINES = 5;
/** Kinds of tools that return prose: a subagent's answer, a plan. */
const RETURNS_PROSE: ReadonlySet<string> = new Set(['think', 'switch_mode', 'subagent']);

export interface ToolContent {
  readonly node: HTMLElement;
  readonly terminal?: TerminalOutput;
  readonly markdown?: MarkdownView;
}

export type ToolContext = Omit<EntryContext, 'invalidate'> & MarkdownViewContext;

/** Creates the node of a content. It is hidden if the collapsed entry does not show it. */
export function createToolContent(
  item: ToolItem,
  content: ToolContentView,
  place: Place,
  context: ToolContext,
): ToolContent {
  switch (content.type) {
    case 'diff': {
      const alone = item.content.length === 1 && toolLabel(item).object === content.diff.label;
      const openDiff = (): void => post({ type: 'openDiff', index: place.index, content: place.position });
      const openWritten = (): void => post({ type: 'openWritten', index: place.index, content: place.position });
      const highlight = (lines: HTMLElement): void => highlightDiffLater(lines, content.diff.path);
      const { expanded, asked } = place;
      const options = { expanded, asked, hideHead: alone && !asked, highlight, openDiff, openWritten };
      return { node: createDiff(content.diff, options) };
    }
    case 'terminal': {
      const { id, command } = content.terminal;
      const shownText = toolLabel(item).object;
      const terminal = createTerminalOutput(content.terminal, {
        expanded: place.expanded,
        showCommand: place.expanded && command !== undefined && (command !== shownText || command.length > 60),
        openLink: openLink,
        openOutput: () => post({ type: 'openOutput', index: place.index, content: place.position }),
        openTerminal: () => post({ type: 'openTerminal', terminalId: id }),
      });
      return { node: terminal.element, terminal };
    }
    case 'raw': {
      const node = createFold(strings.unknownContent(content.kind), content.json, place.asked, place.asked);
      node.hidden = !place.expanded;
      return { node };
    }
    case 'content': {
      const drawn = createBlockContent(item, content, place, context);
      if (!content.cut || !place.expanded) return drawn;
      const open = button('secondary small', strings.openOutput, () =>
        post({ type: 'openOutput', index: place.index, content: place.position }),
      );
      return { ...drawn, node: el('div', 'cut-output', drawn.node, open) };
    }
  }
}

function createBlockContent(
  item: ToolItem,
  { block, cut }: Extract<ToolContentView, { type: 'content' }>,
  place: Place,
  context: ToolContext,
): ToolContent {
  if (block.type !== 'text') {
    const save = (): void => post({ type: 'saveResource', index: place.index, content: place.position });
    const node = createBlock(block, save);
    node.hidden = !place.expanded && block.type !== 'image' && block.type !== 'audio';
    return { node };
  }
  if (place.expanded) return createText(item, block.text, place.asked, context);
  const node = el('div', 'terminal');
  node.hidden = item.toolKind !== 'execute' || block.text.trim() === '';
  if (node.hidden) return { node };
  const text = withoutFence(block.text).trimEnd();
  const lastPart = lastLines(text, TAIL_LINES).replace(/^\s*\n/, '');
  const lines = setAttributes(el('pre', 'terminal-lines'), { dir: 'ltr' });
  drawAnsi(lines, shortLines(cleanOutput(lastPart)), openLink);
  const above = linesAbove(text, lastPart, cut);
  if (above) node.append(el('div', 'terminal-note dim', above));
  node.append(lines);
  return { node };
}

function createText(item: ToolItem, text: string, asked: boolean, context: ToolContext): ToolContent {
  const node = el('div', 'tool-text');
  const fenced = withoutFence(text);
  const isProse = item.nested !== undefined || RETURNS_PROSE.has(item.toolKind);
  // A fence indicates Markdown, but command output may be a file that contains fences.
  const isMarked = (item.toolKind === 'execute' ? /^\s*(?:```|~~~)/ : /^ {0,3}(?:```|~~~)/m).test(text);
  if (fenced === text && (isProse || isMarked) && text.length <= LONGEST_MARKDOWN && !text.includes('\u001b')) {
    const markdown = new MarkdownView(context, text);
    markdown.settle();
    node.append(markdown.element);
    return { node, markdown };
  }
  if (asked) {
    node.append(createAskedText('', fenced, LONG));
    return { node };
  }
  const pre = setAttributes(el('pre', 'terminal-lines'), { tabindex: '0', dir: 'ltr' });
  // Carriage returns overwrite the line as in a terminal; in a file they are content.
  const shown = fenced.includes('\u001b')
    ? fenced
    : fenced.replace(item.toolKind === 'read' ? /[^\n]+/g : /[^\n\r\b]+/g, (part) => revealControls(part));
  const output = cleanOutput(shown);
  const short = shortLines(output);
  drawAnsi(pre, short, openLink);
  node.append(pre);
  if (short === output) return { node };
  const showAll = button('text-button', strings.showWholeLines, () => {
    drawAnsi(pre, output, openLink);
    showAll.remove();
    pre.focus({ preventScroll: true });
  });
  node.append(showAll);
  return { node };
}
