// The initial mode of an agent's new sessions. Some agents begin in a mode that writes without
// asking, and nothing proves which modes ask: once per agent, the user reads its own descriptions
// and chooses.
import * as l10n from '@vscode/l10n';
import { oneLine } from '../../base/text';
import type { ActionView } from '../../panel/contract';
import type { Choice, ConfigValue } from '../../session/events/content';
import type { SessionEvent } from '../../session/events/event';
import { modeOption, offeredModes } from '../../session/model/choices';
import type { SessionState } from '../../session/model/state';
import type { RememberedChoices } from '../connection/shownChoices';

/** Stores the answer under an id that no option has; empty: the agent's own mode. */
const ANSWER = '@startMode';
export const START_MODE = 'startMode:';
const MAX_WORDS = 160;
/** Descriptions that say that the agent asks. Used for a suggestion only. */
const ASKS = /\basks?\b|\bprompts? for\b|\bapprovals? (?:is |are )?required\b|\brequires? (?:approval|confirmation)\b/i;
const ASKS_NOT = /\b(?:without|never|not|no|only asks?|asks? only)\b|\bauto/i;

interface StartingConversation {
  readonly agent: { readonly id: string; readonly name: string };
  readonly model: { readonly state: Readonly<SessionState> };
  readonly services: { readonly choices?: RememberedChoices };
}

export interface StartModeView {
  readonly text: string;
  readonly actions: readonly ActionView[];
}

export class StartMode {
  readonly #conversation: StartingConversation;
  readonly #onAnswer: () => void;
  #initialMode: string | undefined;

  constructor(conversation: StartingConversation, onAnswer: () => void) {
    this.#conversation = conversation;
    this.#onAnswer = onAnswer;
  }

  began(): void {
    if (this.#isEmpty) this.#initialMode ??= this.#offered.current;
  }

  /** Returns the mode to set in a new session, if the agent offers it. */
  get choice(): Choice | undefined {
    const { id, values } = this.#offered;
    const value = values.find((candidate) => candidate.value === this.#answer);
    return value && { id, value: value.value, label: value.name, isMode: true, isRequired: true };
  }

  /** Undefined once answered. A message may be sent before the user sees it. */
  get view(): StartModeView | undefined {
    const { values } = this.#offered;
    const mode = values.find(({ value }) => value === this.#initialMode);
    if (this.#answer !== undefined || !mode || values.length < 2) return undefined;
    const { name } = this.#conversation.agent;
    // Another sentence or a button follows.
    const words = oneLine(mode.description ?? '', MAX_WORDS).replace(/[^.!?\u2026]$/, '$&.');
    const begins = words
      ? l10n.t('{0} begins in the mode “{1}”: {2}', name, shortName(mode), words)
      : l10n.t('{0} begins in the mode “{1}”.', name, shortName(mode));
    const asking = asksFirst(mode) ? undefined : values.find(asksFirst);
    if (!asking)
      return {
        text: asksFirst(mode) ? begins : `${begins} ${l10n.t("It doesn't say which modes ask before they write.")}`,
        actions: [{ id: START_MODE, label: l10n.t('OK') }],
      };
    const use = l10n.t('Use “{0}”', shortName(asking));
    return {
      text: begins,
      actions: [
        { id: `${START_MODE}${asking.value}`, label: use, detail: oneLine(asking.description ?? '', MAX_WORDS) },
        { id: START_MODE, label: l10n.t('Keep “{0}”', shortName(mode)) },
      ],
    };
  }

  happened(event: SessionEvent): void {
    const { id, current, values } = this.#offered;
    const isChosen =
      event.type === 'config' ? event.chosen === id && id !== undefined : event.type === 'mode' && event.byUser;
    if (!isChosen || !this.#isEmpty || this.#initialMode === undefined) return;
    // The user's choice before the first message also counts for later sessions, unless it asks
    // less than the agent's own mode.
    const mode = values.find(({ value }) => value === current);
    if (mode && asksFirst(mode)) this.answer(mode.value);
    else if (this.#answer === undefined || current === this.#initialMode) this.answer('');
  }

  answer(value: string): void {
    this.#conversation.services.choices?.remember(this.#conversation.agent.id, ANSWER, value);
    this.#onAnswer();
  }

  get #answer(): string | undefined {
    const { services, agent } = this.#conversation;
    // Without storage, the user would be asked each time.
    if (!services.choices) return '';
    const answer = services.choices.of(agent.id)?.[ANSWER];
    return typeof answer === 'string' ? answer : undefined;
  }

  get #isEmpty(): boolean {
    return this.#conversation.model.state.turns.length === 0;
  }

  get #offered(): {
    readonly id?: string;
    readonly current: string | undefined;
    readonly values: readonly ConfigValue[];
  } {
    const { state } = this.#conversation.model;
    const option = modeOption(state.config);
    if (option) return { id: option.id, current: option.value, values: option.values };
    const values = offeredModes(state).map(({ id, name, description }) => ({ value: id, name, description }));
    return { current: state.mode, values };
  }
}

function asksFirst({ description = '' }: ConfigValue): boolean {
  return ASKS.test(description) && !ASKS_NOT.test(description);
}

function shortName({ name }: ConfigValue): string {
  return oneLine(name, MAX_WORDS);
}
