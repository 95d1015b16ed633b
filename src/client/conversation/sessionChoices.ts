// The mode, the model and the options of a session: how an agent offers them, and what the user chose
// last with each agent.
import * as l10n from '@vscode/l10n';
import type { Choice, ConfigOption, ConfigValue } from '../../session/events/content';
import type { SessionState } from '../../session/model/state';
import { labelOf } from '../connection/shownChoices';

/** A session in which they can be set. */
export interface ChoiceTarget {
  readonly model: { readonly state: Readonly<Pick<SessionState, 'mode' | 'modes' | 'config'>> };
  readonly choices: {
    setMode(modeId: string): Promise<void>;
    setConfigOption(id: string, value: string | boolean): Promise<void>;
  };
}

/** What the user chose last in sessions with each agent, by option. */
export interface RememberedChoices {
  of(agentId: string): Readonly<Record<string, unknown>> | undefined;
  remember(agentId: string, id: string, value: string | boolean): void;
}

/**
 * Categories of options that new sessions begin with as the user chose last: the model first, as
 * the other may depend on it. Not modes: agents don't say which of them bypass permissions.
 */
const REMEMBERED = ['model', 'thought_level'];

/** Returns what was chosen last, as far as the agent offers it now. */
export function rememberedOf(
  remembered: Readonly<Record<string, unknown>>,
  { config }: Readonly<Pick<SessionState, 'config'>>,
): readonly Choice[] {
  return REMEMBERED.flatMap((wanted) =>
    config.flatMap((option): Choice[] => {
      if (option.category !== wanted || option.type === 'boolean') return [];
      const { id, values } = option;
      const offered = values.find(({ value }) => value === remembered[id]);
      return offered ? [{ id, value: offered.value, label: labelOf(option, offered.value) }] : [];
    }),
  );
}

/** What can be chosen, and what is chosen now. */
export interface OfferedChoice {
  readonly current: string | undefined;
  readonly values: readonly ConfigValue[];
  /** @throws ParleyError `no-session`; what the agent answers. */
  choose(value: string): Promise<void>;
}

/**
 * Returns the choice of the mode or the model (protocol.md 1.12); undefined where the agent offers
 * none. An option goes before modes, as in the composer.
 */
export function choiceOf(conversation: ChoiceTarget, what: 'mode' | 'model'): OfferedChoice | undefined {
  const { config, modes, mode } = conversation.model.state;
  const option = config.find((one): one is SelectOption => one.type === 'select' && one.category === what);
  if (option) {
    const { id, value: current, values } = option;
    return { current, values, choose: (value) => conversation.choices.setConfigOption(id, value) };
  }
  if (what === 'model' || modes.length === 0) return undefined;
  return {
    current: mode,
    values: modes.map(({ id, ...rest }) => ({ value: id, ...rest })),
    choose: (value) => conversation.choices.setMode(value),
  };
}

/** Returns the value after the one that is chosen, and the first after the last; undefined where there is only one. */
export function nextOf({ values, current }: Pick<OfferedChoice, 'values' | 'current'>): ConfigValue | undefined {
  if (values.length < 2) return undefined;
  return values[(values.findIndex(({ value }) => value === current) + 1) % values.length];
}

/** Returns the name of what an option is set to, as the user sees it in the composer. */
export function valueLabel(option: ConfigOption): string {
  if (option.type === 'boolean') return option.value ? l10n.t('On') : l10n.t('Off');
  return option.values.find(({ value }) => value === option.value)?.name ?? option.value;
}

type SelectOption = Extract<ConfigOption, { type: 'select' }>;
