// The contents of an agent message or thought: Markdown texts and other blocks in order.
import type { Disposable } from '../../base/disposable';
import type { BlockView } from '../../panel/contract';
import { el } from '../dom/dom';
import { MarkdownView } from '../markdown/markdownView';
import { createBlock } from './blocks';
import type { EntryContext } from './entryView';
import { isText, type StoredItem } from './itemStore';

export class TextBlocks implements Disposable {
  readonly element = el('div', 'blocks');
  readonly #stored: StoredItem;
  readonly #index: number;
  readonly #context: EntryContext;
  readonly #invalidate: () => void;
  readonly #views = new Map<number, MarkdownView>();
  #settled = false;

  constructor(stored: StoredItem, index: number, context: EntryContext, invalidate: () => void) {
    this.#stored = stored;
    this.#index = index;
    this.#context = context;
    this.#invalidate = invalidate;
    this.#build();
  }

  update(): void {
    for (const view of this.#views.values()) view.dispose();
    this.#views.clear();
    this.element.replaceChildren();
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
    return isText(this.#stored.item) ? this.#stored.item.content : [];
  }

  #build(): void {
    this.#content.forEach((block, index) => {
      this.#add(block, index);
    });
    this.#invalidate();
  }

  #add(block: BlockView, content: number): void {
    if (block.type !== 'text') {
      const save = (): void => this.#context.post({ type: 'saveResource', index: this.#index, content });
      this.element.append(createBlock(block, this.#context, save));
      return;
    }
    const context = {
      viewport: this.#context.viewport,
      columns: this.#context.columns,
      openLink: this.#context.openLink,
      copy: this.#context.copy,
      useCode: this.#context.useCode,
      unpin: this.#context.unpin,
      keepInView: this.#context.keepInView,
      invalidate: this.#invalidate,
    };
    const view = new MarkdownView(context, block.text, this.#stored.docs.get(content));
    this.#stored.docs.set(content, view.doc);
    this.#views.set(content, view);
    this.element.append(view.element);
  }
}
