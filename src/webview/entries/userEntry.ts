// A user message. The text is shown as typed; fences, lists and quotes are rendered.

import { render } from 'preact';
import { revealControls } from '../../base/revealControls';
import { head, textOfBlocks } from '../../base/text';
import type { BlockView, DiffView } from '../../panel/contract';
import { drawMessageActions } from '../changes/changes';
import { button, el, icon, setAttributes } from '../dom/dom';
import { copyText, isExpanded, post, setExpanded } from '../host/host';
import { session } from '../host/session';
import { highlightDiffLater } from '../markdown/highlightLater';
import { MarkdownView } from '../markdown/markdownView';
import { createDiff } from '../output/diffView';
import { createText } from '../output/plainText';
import { strings } from '../text/strings';
import { attachmentNames, createAttachment, createBlock, isAttachment } from './blocks';
import { type AgentText, splitMessage } from './bookkeeping';
import { createArticle, type EntryFactory, type EntryView, markLate } from './entryView';
import { createFold } from './fold';
import { isText } from './itemStore';

const LONG_TEXT = 2_400;
const LONG_LINES = 24;
/** More characters than fit in `LONG_LINES` lines of a wide panel. */
const DRAWN_CHARS = 6_000;
/** A fence, a list item or a quote. No headings, as `#` also begins comments in code. */
const MARKUP = /^ {0,3}(?:```|~~~|(?:[-*+]|\d{1,9}[.)]) +\S|> )/m;

export const createUserEntry: EntryFactory = (stored, index, context) => {
  const element = createArticle(stored.item, strings.you);
  const sender = el('span', 'chip sender-chip', strings.anotherClient);
  const bubble = el('div', 'bubble');
  element.append(bubble);
  const actions = el('div', 'message-actions');
  let texts: MarkdownView[] = [];

  const text = (): string => (isText(stored.item) ? textOfBlocks(stored.item.content, '\n') : '');
  const copy = (): void => copyText(text());
  const savePrompt = (): void => post({ type: 'savePrompt', text: text() });

  function offerActions(): void {
    const { item } = stored;
    if (!isText(item) || item.turnId === undefined) return;
    const { turnId, canRestore, canEdit } = item;
    actions.hidden = !canRestore && !canEdit;
    if (actions.hidden && !actions.parentElement) return;
    // Moving the actions would drop the focus.
    if (!actions.parentElement) element.append(actions);
    drawMessageActions(actions, { turnId, canRestore, canEdit, copy, savePrompt });
  }

  function draw(): void {
    const { item } = stored;
    if (!isText(item)) return;
    if (item.edits) {
      drawEdits(item.edits);
      return;
    }
    const content = item.content.flatMap((block): readonly (BlockView | AgentText)[] =>
      block.type === 'text' ? splitMessage(block.text) : [block],
    );
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    const isLong = text.length > LONG_TEXT || text.split('\n', LONG_LINES + 1).length > LONG_LINES;
    const isClamped = isLong && !(isExpanded(item.id) ?? false);
    const parts: HTMLElement[] = [];
    const chips = el('div', 'chips');
    const attachments = item.content.filter(isAttachment);
    const names = attachmentNames(attachments);
    disposeTexts();
    content.forEach((block) => {
      const position = item.content.indexOf(block as BlockView);
      const save = (): void => post({ type: 'saveResource', index, content: position });
      if (block.type === 'kept') parts.push(createFold(block.name, block.text));
      else if (block.type === 'text') {
        const shown = isClamped ? head(block.text, DRAWN_CHARS) : block.text;
        parts.push(setAttributes(createSaid(shown), { dir: 'auto' }));
      } else if (block.type === 'image' || block.type === 'audio') parts.push(createBlock(block, save));
      else if (isAttachment(block)) chips.append(createAttachment(block, names[attachments.indexOf(block)]!));
      else chips.append(createBlock(block, save));
    });
    const isElsewhere = item.elsewhere === true;
    element.setAttribute('aria-label', isElsewhere ? strings.anotherClient : strings.you);
    if (isElsewhere) bubble.before(sender);
    else sender.remove();
    offerActions();
    bubble.replaceChildren(...parts);
    bubble.classList.toggle('clamped', isClamped);
    if (chips.childElementCount > 0) bubble.append(chips);
    if (isLong) bubble.append(more(item.id, isClamped));
    if (texts.length > 0) context.invalidate(view);
  }

  /** Parley generated the text from the user's edits, so the edits are shown as a diff. */
  function drawEdits(edits: DiffView): void {
    element.setAttribute('aria-label', strings.notice);
    const words = strings.editsSent(revealControls(session.agentName.peek()), revealControls(edits.label));
    const open = (): void => post({ type: 'openLocation', path: edits.path });
    const highlight = (lines: HTMLElement): void => highlightDiffLater(lines, edits.path);
    const options = { expanded: true, asked: false, hideHead: false, highlight, openDiff: open, openWritten: open };
    bubble.className = 'own-edits';
    bubble.replaceChildren(el('div', 'notice-body', icon('edit'), el('div', 'words', words)));
    if (edits.hunks.length > 0) bubble.append(createDiff(edits, options));
    offerActions();
  }

  function createSaid(text: string): HTMLElement {
    if (!MARKUP.test(text)) return createText('said', text);
    const markdown = new MarkdownView({ ...context, invalidate: () => context.invalidate(view) }, text);
    markdown.settle();
    texts.push(markdown);
    return el('div', 'said', markdown.element);
  }

  function disposeTexts(): void {
    for (const text of texts) text.dispose();
    texts = [];
  }

  function more(id: string, isClamped: boolean): HTMLElement {
    const toggle = button('text-button show-all', '', () => {
      context.unpin();
      setExpanded(id, isClamped);
      draw();
      bubble.querySelector<HTMLElement>('.show-all')?.focus();
    });
    toggle.textContent = isClamped ? strings.showAll : strings.showLess;
    toggle.setAttribute('aria-expanded', String(!isClamped));
    return toggle;
  }

  const view: EntryView = {
    element,
    update() {
      markLate(element, stored.item);
      draw();
    },
    append: draw,
    render: (deadline) => texts.filter((text) => !text.render(deadline)).length === 0,
    drawWhole: () => texts.filter((text) => text.drawWhole()).length > 0,
    dispose() {
      disposeTexts();
      render(null, actions);
    },
  };
  draw();
  return view;
};
