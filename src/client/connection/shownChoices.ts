// The mode and options that the composer shows, as choices that must be in force when the session
// is opened again.
import * as l10n from '@vscode/l10n';
import type { Choice, ConfigOption } from '../../session/events/content';
import type { SessionEvent } from '../../session/events/event';
import { isSameSetting, modeOption, offers, targetOf } from '../../session/model/choices';
import type { SessionState } from '../../session/model/state';

type Shown = Readonly<Pick<SessionState, 'mode' | 'modes' | 'config' | 'chosen'>>;
type Opened = Shown & Readonly<Pick<SessionState, 'wanted' | 'choicesOf' | 'isOpening'>>;

/** The user's last choices with each agent, by option. */
export interface RememberedChoices {
  of(agentId: string): Readonly<Record<string, unknown>> | undefined;
  remember(agentId: string, id: string, value: string | boolean): void;
}

/**
 * Categories in which new sessions begin with the user's last choice: the model first, as others
 * may depend on it. Not modes: agents don't say which of them bypass permissions.
 */
const REMEMBERED = ['model', 'thought_level', 'speed'];

export function rememberedOf(
  remembered: Readonly<Record<string, unknown>>,
  { config }: Readonly<Pick<SessionState, 'config'>>,
): readonly Choice[] {
  return REMEMBERED.flatMap((wanted) =>
    config.flatMap((option): Choice[] => {
      const value = remembered[option.id];
      if (option.category !== wanted || (typeof value !== 'string' && typeof value !== 'boolean')) return [];
      return offers(option, value) ? [{ id: option.id, value, label: labelOf(option, value) }] : [];
    }),
  );
}

/**
 * Returns the shown choices in the order in which they are set: mode, model, other options. A mode
 * is required, as another one may ask less often, and so is what the user has set.
 */
export function shownChoices({ mode, modes, config, chosen }: Shown): readonly Choice[] {
  const ofMode = modeOption(config);
  const options = config.map((option): Choice => {
    const isMode = option === ofMode;
    const { id, value } = option;
    return {
      id,
      value,
      label: labelOf(option, value),
      isMode: isMode || undefined,
      isRequired: isMode || chosen.has(id) ? true : undefined,
    };
  });
  const current = ofMode ? undefined : modes.find(({ id }) => id === mode);
  const first: Choice[] = current ? [modeChoice(current)] : [];
  const rank = ({ id, isMode }: Choice): number =>
    isMode ? 0 : config.some((option) => option.id === id && option.category === 'model') ? 1 : 2;
  return [...first, ...options].sort((a, b) => rank(a) - rank(b));
}

export function modeChoice({ id, name }: { readonly id: string; readonly name: string }): Choice {
  return { value: id, label: name, isMode: true, isRequired: true };
}

export function labelOf(option: ConfigOption, value: string | boolean): string {
  if (typeof value === 'boolean') return `${option.name}: ${value ? l10n.t('On') : l10n.t('Off')}`;
  const named =
    option.type === 'select' ? option.values.find((candidate) => candidate.value === value)?.name : undefined;
  return `${option.name}: ${named ?? value}`;
}

/** Returns the event that carries the choices over to a session that continues this one. */
export function carriedChoices(state: Opened, agentId: string): SessionEvent {
  return { type: 'choices', wanted: choicesAfterOpening(state), agentId: state.choicesOf ?? agentId };
}

/**
 * Returns the event that begins opening a session and wants the shown choices; with another agent,
 * only what it offers under the same ids.
 */
export function openingChoices(state: Opened, agentId: string): SessionEvent {
  const isSameAgent = state.choicesOf === undefined || state.choicesOf === agentId;
  const wanted = choicesAfterOpening(state);
  return {
    type: 'choices',
    wanted: isSameAgent ? wanted : wanted.map(({ isRequired: _required, ...choice }) => choice),
    agentId,
    opens: true,
  };
}

/** Returns the shown choices for new sessions like this one; only the mode is required. */
export function presetChoices(state: Opened): readonly Choice[] {
  const { wanted } = state;
  const shown = shownChoices(state).filter((choice) => !wanted.some((other) => isSameSetting(other, choice)));
  return [...wanted, ...shown].map(({ isRequired: _required, ...choice }) =>
    choice.isMode ? { ...choice, isRequired: true } : choice,
  );
}

/**
 * Returns required choices that the agent doesn't offer, except the mode: nothing is sent without
 * it.
 */
export function missingChoices(state: Readonly<SessionState>, choices: readonly Choice[]): readonly Choice[] {
  return choices.filter((choice) => !choice.isRequired && !targetOf(state, choice));
}

function choicesAfterOpening(state: Opened): readonly Choice[] {
  // Before the first message, the agent's own initial values are shown.
  if (state.isOpening) return state.wanted;
  const shown = shownChoices(state).filter((choice) => !state.wanted.some((other) => isSameSetting(other, choice)));
  return [...state.wanted, ...shown];
}

/**
 * Returns the initial values for a session: required choices, and the user's last ones that are
 * known to be offered.
 */
export function initialValues(
  state: Readonly<SessionState>,
  remembered: Readonly<Record<string, unknown>> | undefined,
): readonly { readonly id: string; readonly value: string | boolean }[] {
  const { wanted } = state;
  const last = remembered ? rememberedOf(remembered, state) : [];
  return [...wanted, ...last.filter((choice) => !wanted.some((other) => isSameSetting(other, choice)))].flatMap(
    (choice) => {
      const target = targetOf(state, choice);
      return target?.kind === 'option' ? [{ id: target.option.id, value: target.value }] : [];
    },
  );
}
