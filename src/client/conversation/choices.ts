// The mode and the model of a session, however its agent offers them: as modes, or as an option of that category (protocol.md 1.12).
import type { ConfigOption, ConfigValue } from '../../session/content';
import type { Conversation } from './conversation';

/** What can be chosen, and what is chosen now. */
export interface Choice {
  readonly current: string | undefined;
  readonly values: readonly ConfigValue[];
  /** @throws ParleyError `no-session`; what the agent answers. */
  choose(value: string): Promise<void>;
}

/** Returns the choice of the mode or the model; undefined where the agent offers none. An option goes before modes, as in the composer. */
export function choiceOf(conversation: Conversation, what: 'mode' | 'model'): Choice | undefined {
  const { config, modes, mode } = conversation.model.state;
  const option = config.find((one): one is SelectOption => one.type === 'select' && one.category === what);
  if (option) {
    const { id, value: current, values } = option;
    return { current, values, choose: (value) => conversation.setConfigOption(id, value) };
  }
  if (what === 'model' || modes.length === 0) return undefined;
  return {
    current: mode,
    values: modes.map(({ id, ...rest }) => ({ value: id, ...rest })),
    choose: (value) => conversation.setMode(value),
  };
}

type SelectOption = Extract<ConfigOption, { type: 'select' }>;
