// One content of a tool call: a change, a terminal, or a block of content.
import type { BlockView, ToolContentView } from '../../panel/contract';
import { cleanOutput } from '../ansi';
import { createDiff } from '../diffView';
import { el, setAttributes } from '../dom';
import { lastLines, revealControls } from '../format';
import { lexAll } from '../markdown/blockLexer';
import { renderBlocks } from '../markdown/renderTokens';
import { strings } from '../strings';
import { createTerminalOutput, drawAnsi, type TerminalOutput } from '../terminalOutput';
import { createBlock } from './blocks';
import type { EntryContext } from './entryView';
import { createFold } from './fold';
import { type ToolItem, toolWords } from './toolWords';

interface Place {
  /** Transcript index of the tool call, and which of its contents this is. */
  readonly index: number;
  readonly position: number;
  readonly expanded: boolean;
}

/** Longer texts are shown as they are, from their beginning. */
const LONGEST_MARKDOWN = 20_000;
const TAIL_LINES = 5;

/** Draws a content. Its node is hidden where the closed line shows nothing of it. */
export function createToolContent(
  item: ToolItem,
  content: ToolContentView,
  place: Place,
  context: EntryContext,
): { readonly node: HTMLElement; readonly terminal?: TerminalOutput } {
  switch (content.type) {
    case 'diff': {
      const alone = item.content.length === 1 && toolWords(item).object === content.diff.label;
      const openDiff = (): void => context.post({ type: 'openDiff', index: place.index, content: place.position });
      return { node: createDiff(content.diff, { expanded: place.expanded, hideHead: alone, openDiff }) };
    }
    case 'terminal': {
      const { id, command } = content.terminal;
      const said = toolWords(item).object;
      const terminal = createTerminalOutput(content.terminal, {
        expanded: place.expanded,
        showCommand: place.expanded && command !== undefined && (command !== said || command.length > 60),
        openTerminal: () => context.post({ type: 'openTerminal', terminalId: id }),
      });
      return { node: terminal.element, terminal };
    }
    case 'raw': {
      const node = createFold(strings.unknownContent(content.kind), content.json, context);
      node.hidden = !place.expanded;
      return { node };
    }
    case 'content':
      return { node: createBlockContent(item, content.block, place, context) };
  }
}

function createBlockContent(item: ToolItem, block: BlockView, place: Place, context: EntryContext): HTMLElement {
  if (block.type !== 'text') {
    const save = (): void => context.post({ type: 'saveResource', index: place.index, content: place.position });
    const node = createBlock(block, context, save);
    node.hidden = !place.expanded && block.type !== 'image' && block.type !== 'audio';
    return node;
  }
  if (place.expanded) return createText(block.text, context);
  const node = setAttributes(el('pre', 'terminal-lines tail'), { dir: 'ltr' });
  node.hidden = item.toolKind !== 'execute' || block.text.trim() === '';
  if (!node.hidden) drawAnsi(node, cleanOutput(lastLines(withoutFence(block.text).trimEnd(), TAIL_LINES)));
  return node;
}

function createText(text: string, context: EntryContext): HTMLElement {
  const node = el('div', 'tool-text markdown');
  const fenced = withoutFence(text);
  const plain = fenced !== text || text.length > LONGEST_MARKDOWN || text.includes('\u001b');
  if (!plain) {
    renderBlocks(lexAll(text), node, context);
    return node;
  }
  const pre = setAttributes(el('pre', 'terminal-lines'), { tabindex: '0', dir: 'ltr' });
  drawAnsi(pre, cleanOutput(revealText(fenced.slice(0, LONGEST_MARKDOWN * 3))));
  node.append(pre);
  return node;
}

/** Agents wrap the output of a command in one fence. */
function withoutFence(text: string): string {
  const match = /^\s*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)\n?\1\s*$/.exec(text);
  return match && !match[2]!.includes(`\n${match[1]}`) ? match[2]! : text;
}

function revealText(text: string): string {
  return text.includes('\u001b') ? text : revealControls(text);
}
