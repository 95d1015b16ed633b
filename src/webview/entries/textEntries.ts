// Messages and thoughts of the agent: Markdown and other blocks in order, drawn while they stream.

import type { BlockView } from '../../panel/contract';
import { el, icon, setAttributes, setIcon } from '../dom/dom';
import { isExpanded, post, setExpanded } from '../host/host';
import { MarkdownView } from '../markdown/markdownView';
import { formatSeconds, lastLines } from '../text/format';
import { strings } from '../text/strings';
import { createBlock } from './blocks';
import { createArticle, type EntryContext, type EntryFactory, type EntryView, markLate } from './entryView';
import { isText, type StoredItem } from './itemStore';

export const createAgentEntry: EntryFactory = (stored, index, context) => new AgentEntry(stored, index, context);

export const createThoughtEntry: EntryFactory = (stored, index, context) => {
  const element = createArticle(stored.item, strings.thought);
  const label = el('span', 'label');
  const lastLine = setAttributes(el('span', 'cut dim last-line'), { 'aria-hidden': 'true' });
  const row = setAttributes(el('button', 'row'), { type: 'button' });
  const chevron = icon('chevron-right');
  row.append(chevron, label, lastLine);
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
    addBlocks(from) {
      live = true;
      blocks?.addBlocks(from);
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
      setExpanded(stored.item.id, !blocks);
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
    lastLine.textContent = text.replace(/[*`#]/g, '').slice(-160);
  }

  function apply(): void {
    const open = isExpanded(stored.item.id) ?? false;
    row.setAttribute('aria-expanded', String(open));
    setIcon(chevron, open ? 'chevron-down' : 'chevron-right');
    if (open && !blocks) {
      blocks = new TextBlocks(stored, index, context, element, view);
      if (!live) blocks.settle();
    } else if (!open && blocks) {
      blocks.dispose();
      blocks.box.remove();
      blocks = undefined;
    }
    context.invalidate(view);
  }

  row.addEventListener('click', () => view.toggle?.());
  apply();
  return view;
};

class TextBlocks implements EntryView {
  readonly element: HTMLElement;
  readonly box = el('div', 'blocks');
  protected readonly stored: StoredItem;
  readonly #index: number;
  readonly #context: EntryContext;
  readonly #view: EntryView;
  readonly #views = new Map<number, MarkdownView>();
  #settled = false;

  /**
   * @param element of the entry; the box of blocks is appended
   * @param view the entry, if the blocks are only a part of it
   */
  constructor(stored: StoredItem, index: number, context: EntryContext, element: HTMLElement, view?: EntryView) {
    this.stored = stored;
    this.#index = index;
    this.#context = context;
    this.element = element;
    this.#view = view ?? this;
    element.append(this.box);
    this.#build();
  }

  update(): void {
    for (const view of this.#views.values()) view.dispose();
    this.#views.clear();
    this.box.replaceChildren();
    this.#build();
  }

  append(text: string): void {
    this.#settled = false;
    const last = this.#content.length - 1;
    const view = this.#views.get(last);
    if (view) view.append(text);
    else this.#add(this.#content[last]!, last);
    this.#invalidate();
  }

  addBlocks(from: number): void {
    this.#settled = false;
    this.#content.slice(from).forEach((block, offset) => {
      this.#add(block, from + offset);
    });
    this.#invalidate();
  }

  render(deadline: number): boolean {
    let complete = true;
    for (const view of this.#views.values()) {
      if (this.#settled) view.settle();
      if (!view.render(deadline)) complete = false;
    }
    return complete;
  }

  drawWhole(): boolean {
    return [...this.#views.values()].filter((view) => view.drawWhole()).length > 0;
  }

  settle(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#invalidate();
  }

  dispose(): void {
    for (const view of this.#views.values()) view.dispose();
  }

  get #content(): readonly BlockView[] {
    return isText(this.stored.item) ? this.stored.item.content : [];
  }

  #build(): void {
    this.#content.forEach((block, index) => {
      this.#add(block, index);
    });
    this.#invalidate();
  }

  #add(block: BlockView, content: number): void {
    if (block.type !== 'text') {
      const save = (): void => post({ type: 'saveResource', index: this.#index, content });
      this.box.append(createBlock(block, save));
      return;
    }
    const context = { ...this.#context, invalidate: () => this.#invalidate() };
    const view = new MarkdownView(context, block.text, this.stored.docs.get(content));
    this.stored.docs.set(content, view.doc);
    this.#views.set(content, view);
    this.box.append(view.element);
  }

  #invalidate(): void {
    this.#context.invalidate(this.#view);
  }
}

class AgentEntry extends TextBlocks {
  readonly #dropped = el('p', 'dim dropped');

  constructor(stored: StoredItem, index: number, context: EntryContext) {
    super(stored, index, context, createArticle(stored.item, strings.agent));
    this.#drawDropped();
    this.#hideBlank();
  }

  override update(): void {
    markLate(this.element, this.stored.item);
    this.#drawDropped();
    super.update();
    this.#hideBlank();
  }

  override append(text: string): void {
    super.append(text);
    if (this.element.hidden) this.#hideBlank();
  }

  override addBlocks(from: number): void {
    super.addBlocks(from);
    if (this.element.hidden) this.#hideBlank();
  }

  /** Some agents send blank chunks between tool calls. */
  #hideBlank(): void {
    const { item } = this.stored;
    this.element.hidden = isText(item) && item.content.every((block) => block.type === 'text' && !block.text.trim());
  }

  #drawDropped(): void {
    const { item } = this.stored;
    const count = isText(item) ? (item.dropped ?? 0) : 0;
    this.#dropped.textContent = strings.dropped(count);
    if (count === 0) this.#dropped.remove();
    else this.box.before(this.#dropped);
  }
}
