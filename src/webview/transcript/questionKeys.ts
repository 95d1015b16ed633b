// Answers questions by key. In the empty message, the number of an answer focuses it, and Enter
// gives it. A user who answers by key stays with the questions until the turn ends; a question that
// takes the focus itself is answered in the same way, as the user may be about to type.
import { isComposing } from '../dom/dom';
import { MODIFIERS } from '../input/ignoredKeys';
import { isTyped, messageField } from '../input/typing';

const FORM = '[data-elicitation-id]';
const CARD = `[data-permission-id], ${FORM}`;

export interface QuestionTargets {
  /** The first open question, if it is drawn. */
  first(): HTMLElement | undefined;
  reveal(): void;
}

export class QuestionKeys {
  readonly #targets: QuestionTargets;
  #typedAnswer: { readonly answer: HTMLElement; readonly digits: string } | undefined;
  #staysInQuestions = false;
  #focusedItself = false;
  #numberedCard: HTMLElement | undefined;

  constructor(targets: QuestionTargets) {
    this.#targets = targets;
    window.addEventListener('keydown', (event) => this.#onKey(event), { capture: true });
    for (const type of ['focusin', 'focus', 'blur']) window.addEventListener(type, () => this.showNumbers());
    window.addEventListener('focusin', ({ target }) => {
      if (!(target instanceof Element && target.closest(CARD))) this.#focusedItself = false;
    });
    window.addEventListener('input', ({ target }) => {
      if (target !== messageField()) return;
      this.#staysInQuestions = false;
      this.showNumbers();
    });
  }

  answered(byKey: boolean): void {
    this.#staysInQuestions = byKey;
  }

  turnEnded(): void {
    this.#staysInQuestions = false;
  }

  questionDrawn(): void {
    if (!this.#staysInQuestions || !isAtMessage()) return;
    this.#targets.reveal();
    this.#focusedItself = true;
  }

  /** Call it when the user focuses the question, where a number alone answers. */
  questionFocused(): void {
    this.#focusedItself = false;
  }

  /** Shows the numbers of answers when they work. */
  showNumbers(): void {
    const card = document.hasFocus() ? this.#card() : undefined;
    if (card !== this.#numberedCard) this.#numberedCard?.classList.remove('by-number');
    this.#numberedCard = card;
    card?.classList.add('by-number');
    for (const [index, { parentElement }] of radiosOf(card).slice(0, 9).entries())
      parentElement?.setAttribute('data-number', String(index + 1));
  }

  #card(): HTMLElement | undefined {
    const card = document.activeElement?.closest<HTMLElement>(this.#focusedItself ? CARD : FORM);
    return card ?? (isAtMessage() || this.#typedAnswer ? this.#targets.first() : undefined);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.repeat || isComposing(event) || MODIFIERS.has(event.key)) return;
    const { activeElement } = document;
    const typed = this.#typedAnswer?.answer === activeElement ? this.#typedAnswer : undefined;
    this.#typedAnswer = typed;
    if (!typed && !isAtMessage() && !activeElement?.matches(this.#focusedItself ? CARD : FORM)) return;
    const answer = isTyped(event) ? answerOf(this.#card(), event.key) : undefined;
    this.#typedAnswer = answer && { answer, digits: (typed?.digits ?? '') + event.key };
    if (answer) {
      answer.focus();
      if (answer instanceof HTMLInputElement) answer.click();
    } else if (typed && isTyped(event)) {
      // The digits were text: Space must not press the answer.
      messageField()?.focus();
      document.execCommand('insertText', false, typed.digits + (event.key === 'Dead' ? '' : event.key));
      if (event.key === 'Dead') return;
    } else if (typed && (event.key === 'Escape' || event.key === 'Backspace')) messageField()?.focus();
    else return;
    event.preventDefault();
  }
}

function isAtMessage(): boolean {
  const { activeElement, body } = document;
  const field = messageField();
  return field?.value === '' && (activeElement === field || activeElement === body);
}

function answerOf(card: HTMLElement | undefined, key: string): HTMLElement | undefined {
  if (!card || !/^[1-9]$/.test(key)) return undefined;
  const choice = card.querySelector<HTMLElement>(`button[data-key="${key}"]:not(:disabled)`);
  return choice ?? radiosOf(card)[Number(key) - 1];
}

function radiosOf(card: HTMLElement | undefined): readonly HTMLInputElement[] {
  const radios = [...(card?.querySelectorAll<HTMLInputElement>('input[type=radio]:enabled') ?? [])];
  return radios.filter(({ name }) => name === radios[0]?.name);
}
