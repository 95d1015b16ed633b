// Decides whether a click or key press counts as an answer to a question. A question can appear,
// move or change under the pointer, so it must be focused or pressed, visible, and unchanged for a
// moment.

/** How long a question must be unchanged before it can be answered, ms; as for browser prompts. */
const SETTLE_MS = 500;
const CHECK_MS = 100;
const MAX_MOVE_PX = 2;
const CARD = '[data-permission-id], [data-elicitation-id]';
const ANSWER = '.answers button, .reason-send';

interface Appearance {
  readonly rects: readonly number[];
  readonly words: string;
}

interface Watched {
  /** Undefined until the card is in the document. */
  appearance: Appearance | undefined;
  stillSince: number;
  changed: boolean;
  /** The user's own input may have changed the card's height. */
  ownChange: boolean;
  observer: MutationObserver | undefined;
}

class AnswerGuard {
  onRefused: (card: HTMLElement) => void = () => {};
  readonly #cards = new Map<HTMLElement, Watched>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #press: { readonly card: HTMLElement; readonly allowed: boolean } | undefined;
  #answeredByClicks = false;

  constructor() {
    const capture = { capture: true } as const;
    document.addEventListener('pointerdown', (event) => this.#pressed(event), capture);
    document.addEventListener('click', ({ detail }) => (this.#answeredByClicks &&= detail > 1), capture);
    document.addEventListener('visibilitychange', () => this.restart());
  }

  /** Disables the buttons of a card until it can be answered. */
  watch(card: HTMLElement): void {
    if (this.#cards.has(card)) return;
    const state: Watched = {
      appearance: undefined,
      stillSince: performance.now(),
      changed: false,
      ownChange: false,
      observer: undefined,
    };
    this.#cards.set(card, state);
    if (card.matches('[data-elicitation-id]'))
      for (const type of ['input', 'change', 'focusout'])
        card.addEventListener(type, () => {
          state.ownChange = true;
        });
    mark(card, false);
    this.#timer ??= setInterval(() => this.#checkAll(), CHECK_MS);
  }

  /** Restarts the wait: call it after an answer, and when the page becomes visible. */
  restart(): void {
    for (const card of this.#cards.keys()) this.#restart(card);
  }

  allows(card: HTMLElement, event: Event, button?: Element): boolean {
    if (this.#isAnswer(card, event, button)) {
      this.#answeredByClicks = isPointer(event);
      this.restart();
      return true;
    }
    this.onRefused(card);
    this.#restart(card);
    return false;
  }

  #restart(card: HTMLElement): void {
    const state = this.#cards.get(card);
    if (state) state.stillSince = performance.now();
    mark(card, false);
  }

  #isAnswer(card: HTMLElement, event: Event, button: Element | undefined): boolean {
    if (isPointer(event)) {
      const down = this.#press;
      // A click without a press comes from assistive technology.
      if (down && (down.card !== card || !down.allowed)) return false;
      if (event.detail > 1 && this.#answeredByClicks) return false;
      return this.#isSettled(card) && isInView(card, button);
    }
    if (!card.contains(document.activeElement)) return false;
    return this.#isSettled(card) && isInView(card, button);
  }

  #isSettled(card: HTMLElement): boolean {
    const state = this.#cards.get(card);
    if (!state) return false;
    this.#check(card, state);
    return state.appearance !== undefined && performance.now() - state.stillSince >= SETTLE_MS;
  }

  #pressed({ target }: PointerEvent): void {
    const card = target instanceof Element ? target.closest<HTMLElement>(CARD) : null;
    this.#press = card ? { card, allowed: this.#isSettled(card) } : undefined;
  }

  #checkAll(): void {
    for (const [card, state] of this.#cards) {
      if (!card.isConnected) {
        state.observer?.disconnect();
        this.#cards.delete(card);
        continue;
      }
      this.#check(card, state);
      mark(card, performance.now() - state.stillSince >= SETTLE_MS);
    }
    if (this.#cards.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #check(card: HTMLElement, state: Watched): void {
    if (!state.observer) {
      state.observer = new MutationObserver(() => {
        state.changed = true;
      });
      state.observer.observe(entryOf(card), { subtree: true, childList: true, characterData: true });
    }
    const old = state.appearance;
    if (state.observer.takeRecords().length > 0) state.changed = true;
    const words = old && !state.changed ? old.words : questionText(card);
    const rects = rectsOf(card);
    state.changed = false;
    const moved = !old || rects.some((value, index) => Math.abs(value - old.rects[index]!) > MAX_MOVE_PX);
    if (!moved && words === old.words) return;
    state.appearance = { rects, words };
    if (state.ownChange && old && words === old.words) state.ownChange = false;
    else state.stillSince = performance.now();
  }
}

function isPointer(event: Event): event is MouseEvent {
  return event instanceof MouseEvent && event.detail > 0;
}

function mark(card: HTMLElement, answerable: boolean): void {
  for (const button of card.querySelectorAll(ANSWER)) {
    if (answerable) button.removeAttribute('aria-disabled');
    else button.setAttribute('aria-disabled', 'true');
  }
}

function entryOf(card: HTMLElement): Element {
  return card.closest('[data-entry-id]') ?? card;
}

/** Returns the text of a question. Forms do not change; only the user's input does. */
function questionText(card: HTMLElement): string {
  if (!card.matches('[data-permission-id]')) return '';
  const title = entryOf(card).querySelector<HTMLElement>('.object')?.title ?? '';
  const parts = [...card.children].filter((part) => !part.classList.contains('answers'));
  return [title, ...parts.map((part) => part.textContent)].join('\n');
}

function rectsOf(card: HTMLElement): number[] {
  const answers = card.querySelector('.answers');
  return [card, ...(answers ? [answers] : [])].flatMap((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return [left, top, width, height];
  });
}

/**
 * Returns whether a card is completely visible. A card taller than the box must fill half of it,
 * with the button visible.
 */
function isInView(card: HTMLElement, button: Element | undefined): boolean {
  const log = card.closest('.transcript');
  const box = (log ?? document.documentElement).getBoundingClientRect();
  const over = log?.querySelector('.prompt-line')?.getBoundingClientRect().bottom ?? 0;
  const first = Math.max(over, box.top);
  const room = box.bottom - first;
  const { top, bottom, height } = card.getBoundingClientRect();
  const visible = Math.min(bottom, box.bottom) - Math.max(top, first);
  if (height <= room) return visible >= height - MAX_MOVE_PX;
  const pressed = (button ?? card.querySelector('.answers') ?? card).getBoundingClientRect();
  return visible >= room / 2 && pressed.top >= first - MAX_MOVE_PX && pressed.bottom <= box.bottom + MAX_MOVE_PX;
}

export const answerGuard = new AnswerGuard();
