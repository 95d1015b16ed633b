// The mode, model and options of a session, however an agent offers them.
import * as l10n from '@vscode/l10n';
import type { ConfigOption, ConfigValue } from '../../session/events/content';
import { offeredModes } from '../../session/model/choices';
import type { SessionState } from '../../session/model/state';

export interface ChoiceTarget {
  readonly model: { readonly state: Readonly<Pick<SessionState, 'mode' | 'modes' | 'config'>> };
  readonly choices: {
    setMode(modeId: string): Promise<void>;
    setConfigOption(id: string, value: string | boolean): Promise<void>;
  };
}

export interface OfferedChoice {
  readonly current: string | undefined;
  readonly values: readonly ConfigValue[];
  choose(value: string): Promise<void>;
}

/**
 * Returns the mode or model (protocol.md 1.12), if any. Options take precedence over modes, as in
 * the composer.
 */
export function choiceOf(conversation: ChoiceTarget, what: 'mode' | 'model'): OfferedChoice | undefined {
  const { config, mode } = conversation.model.state;
  const modes = offeredModes(conversation.model.state);
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

export function nextOf({ values, current }: Pick<OfferedChoice, 'values' | 'current'>): ConfigValue | undefined {
  if (values.length < 2) return undefined;
  return values[(values.findIndex(({ value }) => value === current) + 1) % values.length];
}

export function valueLabel(option: ConfigOption): string {
  if (option.type === 'boolean') return option.value ? l10n.t('On') : l10n.t('Off');
  return option.values.find(({ value }) => value === option.value)?.name ?? option.value;
}

type SelectOption = Extract<ConfigOption, { type: 'select' }>;
