// A thought of the agent: one line that can be expanded. While it streams, the line shows its end.
import { el, icon, setAttributes, setIcon } from '../dom/dom';
import { formatSeconds, lastLines } from '../text/format';
import { strings } from '../text/strings';
import { createArticle, type EntryFactory, type EntryView, markLate } from './entryView';
import { isText } from './itemStore';
import { TextBlocks } from './textBlocks';

export const createThoughtEntry: EntryFactory = (stored, index, context) => {
  const element = createArticle(stored.item, strings.thought);
  const label = el('span', 'label');
  const last = setAttributes(el('span', 'cut dim last-line'), { 'aria-hidden': 'true' });
  const row = setAttributes(el('button', 'row'), { type: 'button' });
  const chevron = icon('chevron-right');
  row.append(chevron, label, last);
  element.append(row);
  let blocks: TextBlocks | undefined;
  let live = true;

  const view: EntryView = {
    element,
    update() {
      markLate(element, stored.item);
      blocks?.update();
      context.invalidate(view);
    },
    append(text) {
      live = true;
      blocks?.append(text);
      context.invalidate(view);
    },
    render(deadline) {
      drawRow();
      return blocks?.render(deadline) ?? true;
    },
    drawWhole: () => blocks?.drawWhole() ?? false,
    settle() {
      if (!live) return;
      live = false;
      blocks?.settle();
      context.invalidate(view);
    },
    toggle() {
      context.unpin();
      context.setExpanded(stored.item.id, !blocks);
      apply();
    },
    dispose: () => blocks?.dispose(),
  };

  function drawRow(): void {
    const { item } = stored;
    if (!isText(item)) return;
    label.textContent = live ? strings.thinking : strings.thoughtFor(formatSeconds(item.duration));
    const block = item.content.at(-1);
    const text = live && !blocks && block?.type === 'text' ? lastLines(block.text.slice(-400).trimEnd(), 1) : '';
    last.textContent = text.replace(/[*`#]/g, '').slice(-160);
  }

  function apply(): void {
    const open = context.isExpanded(stored.item.id) ?? false;
    row.setAttribute('aria-expanded', String(open));
    setIcon(chevron, open ? 'chevron-down' : 'chevron-right');
    if (open && !blocks) {
      blocks = new TextBlocks(stored, index, context, () => context.invalidate(view));
      if (!live) blocks.settle();
      element.append(blocks.element);
    } else if (!open && blocks) {
      blocks.dispose();
      blocks.element.remove();
      blocks = undefined;
    }
    context.invalidate(view);
  }

  row.addEventListener('click', () => view.toggle?.());
  apply();
  return view;
};
