// The find widget: the field, its toggles, the match count, and the navigation buttons.
import { type FindQuery, MAX_FIND } from '../../panel/contract';
import { button, el, iconButton, isComposing, setAttributes } from '../dom/dom';
import { strings } from '../text/strings';

export interface FindWidgetActions {
  search(): void;
  step(by: 1 | -1): void;
  close(): void;
}

const SWITCHES = [
  { name: 'matchCase', key: 'KeyC' },
  { name: 'wholeWord', key: 'KeyW' },
  { name: 'regex', key: 'KeyR' },
] as const;

type Switch = (typeof SWITCHES)[number]['name'];

export class FindWidget {
  readonly element: HTMLElement;
  readonly #field = setAttributes(el('input', 'find-field'), {
    type: 'text',
    'aria-label': strings.find.find,
    placeholder: strings.find.find,
    maxlength: MAX_FIND.query,
    spellcheck: 'false',
    autocomplete: 'off',
    dir: 'auto',
  });
  readonly #switches: Readonly<Record<Switch, HTMLButtonElement>>;
  readonly #count = el('span', 'find-count');
  readonly #steps: readonly HTMLButtonElement[];
  readonly #actions: FindWidgetActions;

  constructor(actions: FindWidgetActions) {
    this.#actions = actions;
    const switches = SWITCHES.map(({ name }) => {
      const toggle = button(`find-switch ${name}`, '', () => this.#toggle(name));
      setAttributes(toggle, { 'aria-pressed': 'false', 'aria-label': strings.find[name], title: strings.find[name] });
      return [name, toggle] as const;
    });
    this.#switches = Object.fromEntries(switches) as Record<Switch, HTMLButtonElement>;
    this.#steps = [
      iconButton('arrow-up', strings.find.previous, () => actions.step(-1)),
      iconButton('arrow-down', strings.find.next, () => actions.step(1)),
    ];
    const close = iconButton('close', strings.closeByKey, () => actions.close());
    const fields = el('div', 'find-fields', this.#field, ...switches.map(([, toggle]) => toggle));
    this.element = setAttributes(el('div', 'find', fields, this.#count, ...this.#steps, close), {
      role: 'search',
      'aria-label': strings.find.findInSession,
    });
    this.#field.addEventListener('input', () => actions.search());
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
    this.show('', false);
  }

  get query(): FindQuery | undefined {
    const text = this.#field.value;
    if (text === '') return undefined;
    const isOn = (name: Switch): boolean => this.#switches[name].getAttribute('aria-pressed') === 'true';
    return { text, matchCase: isOn('matchCase'), wholeWord: isOn('wholeWord'), regex: isOn('regex') };
  }

  focus(text?: string): void {
    if (text !== undefined) this.#field.value = text;
    this.#field.focus({ preventScroll: true });
    this.#field.select();
  }

  show(count: string, isEmpty: boolean, canStep = false): void {
    this.#count.textContent = count;
    this.#count.title = count;
    this.element.classList.toggle('nothing', isEmpty);
    setAttributes(this.#field, { 'aria-invalid': isEmpty ? 'true' : undefined });
    for (const step of this.#steps) step.setAttribute('aria-disabled', String(!canStep));
  }

  #toggle(name: Switch): void {
    const toggle = this.#switches[name];
    toggle.setAttribute('aria-pressed', String(toggle.getAttribute('aria-pressed') !== 'true'));
    this.#actions.search();
  }

  #onKey(event: KeyboardEvent): void {
    if (isComposing(event)) return;
    const { key, code, altKey, shiftKey, ctrlKey, metaKey } = event;
    const isField = event.target === this.#field;
    const pressed = altKey && !ctrlKey && !metaKey ? SWITCHES.find((toggle) => toggle.key === code) : undefined;
    if (key === 'Escape') this.#actions.close();
    else if (key === 'Enter' && isField) this.#actions.step(shiftKey ? -1 : 1);
    else if (pressed) this.#toggle(pressed.name);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
