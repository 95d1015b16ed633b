// Summary of what happened while the user was away: the card, and its line in the transcript.
import { computed, effect } from '@preact/signals';
import { revealControls } from '../../base/revealControls';
import type { AwayList, AwayView } from '../../panel/contract';
import { button, el, icon, iconButton, setAttributes } from '../dom/dom';
import { post } from '../host/host';
import { announce, isAwayShown, session } from '../host/session';
import { focusComposer } from '../input/wake';
import { formatCost, formatCount } from '../text/format';
import { moreCount, strings } from '../text/strings';
import type { Transcript } from '../transcript/transcript';

type Command = AwayView['commands']['shown'][number];

export class AwayCard {
  readonly #transcript: Transcript;
  readonly #element = setAttributes(el('section', 'away'), { 'aria-label': strings.away.title });
  /** A style rule, because entries are created and removed while scrolling. */
  readonly #line = new CSSStyleSheet();
  #view: AwayView | undefined;
  #endState = (): void => {};

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.#line];
    this.#element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      event.preventDefault();
      event.stopPropagation();
      this.dismiss();
    });
  }

  show(view: AwayView | undefined): void {
    if (JSON.stringify(view) === JSON.stringify(this.#view)) return;
    const isNew = view !== undefined && view.since !== this.#view?.since;
    this.#view = view;
    isAwayShown.value = view !== undefined;
    this.#endState();
    this.#endState = () => {};
    this.#transcript.keepPlace(() => {
      this.#line.replaceSync(view ? lineAt(view.index, strings.away.newSince(view.since)) : '');
      if (view) {
        this.#element.replaceChildren(...this.#parts(view));
        if (!this.#element.isConnected) this.#transcript.element.before(this.#element);
      } else this.#element.remove();
    });
    if (view && isNew) announce(`${strings.away.title}: ${summaryOf(view).join(', ')}`, 'polite');
  }

  #parts(view: AwayView): readonly HTMLElement[] {
    const goTo = button('text-button', strings.away.newSince(view.since), () =>
      this.#transcript.revealFound(view.index),
    );
    const summary = el('span', 'away-summary', summaryOf(view).join(' · '));
    const close = iconButton('close', strings.dismiss, () => this.dismiss());
    const head = el('div', 'away-head', el('h2', 'away-title', strings.away.title), summary, goTo, close);
    const { files, commands, decisions } = view;
    const body = el(
      'div',
      'away-body',
      ...this.#list(strings.changes.filesChanged(files.total), files, ({ path, label, added, removed, index }) => {
        const counts = el('span', 'away-fact');
        if (added + removed > 0)
          counts.append(el('span', 'plus', `+${added}`), ' ', el('span', 'minus', `−${removed}`));
        const open = (): void =>
          index === undefined ? post({ type: 'openLocation', path }) : this.#transcript.revealFound(index);
        return this.#row(label, counts, open);
      }),
      ...this.#list(strings.away.commands(commands.total), commands, (command) =>
        this.#row(command.line, outcomeOf(command), () => this.#transcript.revealFound(command.index), 'code'),
      ),
      ...this.#list(strings.away.decisions(decisions.total), decisions, ({ title, rule, outcome, index }) => {
        const words = strings.decisions[outcome === 'allowed' ? 'allowedByRule' : 'rejectedByRule'];
        const fact = el('span', 'away-fact', words(revealControls(rule)));
        return this.#row(title, fact, () => this.#transcript.revealFound(index), 'code');
      }),
    );
    return [head, body, this.#state()];
  }

  /** Describes what the session is waiting for; updated while the card is shown. */
  #state(): HTMLElement {
    const line = el('div', 'away-state');
    // A new question must not replace the button, which may have the focus.
    const isAsked = computed(() => session.permissions.value.length + session.elicitations.value.length > 0);
    this.#endState = effect(() => {
      const words = el('span', '', session.status.value);
      line.replaceChildren(
        words,
        ...(isAsked.value
          ? [button('text-button', strings.away.showQuestion, () => this.#transcript.toNextQuestion())]
          : []),
      );
    });
    return line;
  }

  #list<T>(title: string, { shown, total }: AwayList<T>, row: (item: T) => HTMLElement): readonly HTMLElement[] {
    if (total === 0) return [];
    const items = shown.map((item) => setAttributes(el('div', '', row(item)), { role: 'listitem' }));
    const list = setAttributes(el('div', 'away-list', ...items), { role: 'list', 'aria-label': title });
    const left = total - shown.length;
    return [el('h3', 'away-group', title), list, ...(left > 0 ? [el('div', 'away-more', moreCount(left))] : [])];
  }

  #row(label: string, fact: HTMLElement, open: () => void, kind = ''): HTMLButtonElement {
    const text = revealControls(label);
    const row = button('away-row', '', open);
    row.append(el('span', `away-label ${kind}`, text), fact);
    return setAttributes(row, { title: text });
  }

  /** Removes the card, here and in other views of the session. */
  dismiss(): void {
    if (!this.#view) return;
    const hadFocus = this.#element.contains(document.activeElement);
    this.show(undefined);
    post({ type: 'dismissAway' });
    if (hadFocus) focusComposer();
  }
}

function summaryOf({ turns, cost, tokens }: AwayView): readonly string[] {
  return [
    ...(turns > 0 ? [strings.away.turns(turns)] : []),
    ...(cost ? [strings.cost(formatCost(cost.amount, cost.currency))] : []),
    ...(tokens !== undefined ? [strings.tokens(formatCount(tokens))] : []),
  ];
}

function outcomeOf({ state, exitCode, signal }: Command): HTMLElement {
  const isBad = state === 'failed' || signal !== undefined || (exitCode ?? 0) !== 0;
  const words =
    signal !== undefined
      ? strings.signal(revealControls(signal))
      : exitCode !== undefined
        ? strings.exitCode(exitCode)
        : strings.away.states[state];
  return isBad ? el('span', 'away-fact bad', icon('error'), words) : el('span', 'away-fact', words);
}

function lineAt(index: number, words: string): string {
  const entry = `.transcript [data-index="${index}"]`;
  return `${entry} { position: relative; margin-top: 26px; }
${entry}::before {
  content: ${JSON.stringify(words)};
  position: absolute;
  inset: -24px 0 auto;
  height: 18px;
  border-bottom: 1px solid var(--focus);
  color: var(--fg);
  font-size: var(--small);
  line-height: 16px;
}`;
}
