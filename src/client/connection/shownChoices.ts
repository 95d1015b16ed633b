// The mode and the options as the composer shows them, as choices that must hold when the agent
// opens the session again.
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
 * Categories in which new sessions begin with the user's last choice: the model first, as the other
 * may depend on it. Not modes: agents don't say which of them bypass permissions.
 */
const REMEMBERED = ['model', 'thought_level', 'speed'];

/** Returns the last choices that the agent offers now. */
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
 * Returns what is shown, in the order in which it is set: mode, model, other options. A mode is
 * required, as another one may ask less often, and so is what the user has set.
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

/** Returns the option's name and its value's. */
export function labelOf(option: ConfigOption, value: string | boolean): string {
  if (typeof value === 'boolean') return `${option.name}: ${value ? l10n.t('On') : l10n.t('Off')}`;
  const named = option.type === 'select' ? option.values.find((one) => one.value === value)?.name : undefined;
  return `${option.name}: ${named ?? value}`;
}

/** Returns the event that hands the choices to a session that continues this one. */
export function carriedChoices(state: Opened, agentId: string): SessionEvent {
  return { type: 'choices', wanted: wantedAfter(state), agentId: state.choicesOf ?? agentId };
}

/**
 * Returns the event that begins the opening of a session: what was shown is wanted; with another
 * agent, only what it offers under the same id.
 */
export function openingChoices(state: Opened, agentId: string): SessionEvent {
  const isSameAgent = state.choicesOf === undefined || state.choicesOf === agentId;
  const wanted = wantedAfter(state);
  return {
    type: 'choices',
    wanted: isSameAgent ? wanted : wanted.map(({ isRequired: _required, ...choice }) => choice),
    agentId,
    opens: true,
  };
}

/**
 * Returns what is shown for sessions that are to begin like this one: of that only the mode must
 * hold.
 */
export function presetChoices(state: Opened): readonly Choice[] {
  const { wanted } = state;
  const shown = shownChoices(state).filter((choice) => !wanted.some((one) => isSameSetting(one, choice)));
  return [...wanted, ...shown].map(({ isRequired: _required, ...choice }) =>
    choice.isMode ? { ...choice, isRequired: true } : choice,
  );
}

/**
 * Returns the options that the agent doesn't offer, but the mode: without that, nothing is sent.
 */
export function missingChoices(state: Readonly<SessionState>, choices: readonly Choice[]): readonly Choice[] {
  return choices.filter((choice) => !choice.isRequired && !targetOf(state, choice));
}

function wantedAfter(state: Opened): readonly Choice[] {
  // Before the first message, the agent's own initial values are shown.
  if (state.isOpening) return state.wanted;
  const shown = shownChoices(state).filter((choice) => !state.wanted.some((one) => isSameSetting(one, choice)));
  return [...state.wanted, ...shown];
}

/**
 * Returns the values to begin a session with: what must hold in it, and what the user chose last,
 * as far as it is known to be offered.
 */
export function initialValues(
  state: Readonly<SessionState>,
  remembered: Readonly<Record<string, unknown>> | undefined,
): readonly { readonly id: string; readonly value: string | boolean }[] {
  const { wanted } = state;
  const last = remembered ? rememberedOf(remembered, state) : [];
  return [...wanted, ...last.filter((choice) => !wanted.some((one) => isSameSetting(one, choice)))].flatMap(
    (choice) => {
      const target = targetOf(state, choice);
      return target?.kind === 'option' ? [{ id: target.option.id, value: target.value }] : [];
    },
  );
}
