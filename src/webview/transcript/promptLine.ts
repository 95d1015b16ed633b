// A line over the transcript with the user message of the turn at the top, while that message is
// out of view. An observer reports which entry is at the top, so that neither updates nor scrolling
// query the layout.
import { revealControls } from '../../base/revealControls';
import { button, el } from '../dom/dom';
import type { ItemStore } from '../entries/itemStore';
import { strings } from '../text/strings';

export class PromptLine {
  readonly #store: ItemStore;
  readonly #line: HTMLButtonElement;
  readonly #observer: IntersectionObserver;
  /** Entries in a strip at the top of the box that is higher than the gap between two entries. */
  readonly #entriesAtTop = new Set<HTMLElement>();
  #index = 0;

  constructor(box: HTMLElement, store: ItemStore, reveal: (index: number) => void) {
    this.#store = store;
    this.#line = button('prompt-line', '', () => reveal(this.#index));
    this.#line.title = strings.toYourMessage;
    this.#line.hidden = true;
    box.prepend(el('div', 'prompt-place', this.#line));
    this.#observer = new IntersectionObserver((records) => this.#onIntersection(records), {
      root: box,
      rootMargin: '0px 0px -96%',
    });
  }

  watch(entry: HTMLElement): void {
    this.#observer.observe(entry);
  }

  unwatch(entry: HTMLElement): void {
    this.#observer.unobserve(entry);
    if (this.#entriesAtTop.delete(entry)) this.#show();
  }

  #onIntersection(records: readonly IntersectionObserverEntry[]): void {
    for (const { isIntersecting, target } of records)
      this.#entriesAtTop[isIntersecting ? 'add' : 'delete'](target as HTMLElement);
    this.#show();
  }

  #show(): void {
    const top = Math.max(...[...this.#entriesAtTop].map(({ dataset }) => Number(dataset.index)));
    const { prompts } = this.#store;
    const { index, text } = prompts.get(this.#store.get(top)?.item.turnId ?? '') ?? { index: top, text: '' };
    this.#index = index;
    const line = index < top ? text.split('\n')[0]! : '';
    this.#line.textContent = revealControls(line);
    this.#line.hidden = line === '';
  }
}
