// What the user said: the only bubble, with the text exactly as it was typed.
import { button, el, setAttributes } from '../dom';
import { isText } from '../itemStore';
import { createText } from '../plainText';
import { strings } from '../strings';
import { createAttachment, createBlock, isAttached } from './blocks';
import { createArticle, type EntryFactory, markLate } from './entryView';

/** Longer messages are cut to their beginning until they are opened. */
const LONG_TEXT = 2_400;
const LONG_LINES = 24;

export const createUserEntry: EntryFactory = (stored, index, context) => {
  const element = createArticle(stored.item, strings.you);
  const bubble = el('div', 'bubble');
  element.append(bubble);

  function draw(): void {
    const { item } = stored;
    if (!isText(item)) return;
    const parts: HTMLElement[] = [];
    const chips = el('div', 'chips');
    item.content.forEach((block, content) => {
      const save = (): void => context.post({ type: 'saveResource', index, content });
      if (block.type === 'text') parts.push(setAttributes(createText('said', block.text), { dir: 'auto' }));
      else if (block.type === 'image' || block.type === 'audio') parts.push(createBlock(block, context, save));
      else if (block.type !== 'unknown' && isAttached(block.uri)) chips.append(createAttachment(block, context));
      else chips.append(createBlock(block, context, save));
    });
    const text = item.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    const long = text.length > LONG_TEXT || text.split('\n', LONG_LINES + 1).length > LONG_LINES;
    bubble.replaceChildren(...parts);
    if (chips.childElementCount > 0) bubble.append(chips);
    if (long) bubble.append(more(item.id));
  }

  function more(id: string): HTMLElement {
    const toggle = button('show-all', '', () => {
      context.unpin();
      context.setExpanded(id, bubble.classList.contains('clamped'));
      apply();
    });
    function apply(): void {
      const open = context.isExpanded(id) ?? false;
      bubble.classList.toggle('clamped', !open);
      toggle.textContent = open ? strings.showLess : strings.showAll;
      toggle.setAttribute('aria-expanded', String(open));
    }
    apply();
    return toggle;
  }

  draw();
  return {
    element,
    update() {
      markLate(element, stored.item);
      draw();
    },
    append: draw,
  };
};
