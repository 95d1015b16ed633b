// The user's message whose turn is at the top of the box, as one line over it while the message
// itself is out of sight. An observer tells which entry is at the top, so that neither an update
// nor scrolling queries the layout.
import { revealControls } from '../../base/revealControls';
import { button, el } from '../dom/dom';
import type { ItemStore } from '../entries/itemStore';
import { strings } from '../text/strings';

export class PromptLine {
  readonly #store: ItemStore;
  readonly #line: HTMLButtonElement;
  readonly #observer: IntersectionObserver;
  /** Entries at the top of the box: within a strip that is higher than the gap between two. */
  readonly #top = new Set<HTMLElement>();
  #index = 0;

  /** @param box gets the line as its first child */
  constructor(box: HTMLElement, store: ItemStore, reveal: (index: number) => void) {
    this.#store = store;
    this.#line = button('prompt-line', '', () => reveal(this.#index));
    this.#line.title = strings.toYourMessage;
    this.#line.hidden = true;
    box.prepend(el('div', 'prompt-place', this.#line));
    this.#observer = new IntersectionObserver((records) => this.#look(records), {
      root: box,
      rootMargin: '0px 0px -96%',
    });
  }

  watch(entry: HTMLElement): void {
    this.#observer.observe(entry);
  }

  unwatch(entry: HTMLElement): void {
    this.#observer.unobserve(entry);
    if (this.#top.delete(entry)) this.#show();
  }

  #look(records: readonly IntersectionObserverEntry[]): void {
    for (const { isIntersecting, target } of records)
      this.#top[isIntersecting ? 'add' : 'delete'](target as HTMLElement);
    this.#show();
  }

  #show(): void {
    const top = Math.max(...[...this.#top].map(({ dataset }) => Number(dataset.index)));
    const { prompts } = this.#store;
    const { index, text } = prompts.get(this.#store.get(top)?.item.turnId ?? '') ?? { index: top, text: '' };
    this.#index = index;
    const line = index < top ? text.split('\n')[0]! : '';
    this.#line.textContent = revealControls(line);
    this.#line.hidden = line === '';
  }
}
