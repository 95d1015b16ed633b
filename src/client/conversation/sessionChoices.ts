// What the user has chosen in a session. An agent that opens it again in another process may begin with its defaults.
import type { ConfigOption } from '../../session/content';
import type { SessionState } from '../../session/state';

export interface SessionChoices {
  readonly mode: string | undefined;
  readonly config: readonly ConfigOption[];
}

/** What a session can be told of them. */
export interface ChoiceTarget {
  readonly model: { readonly state: Readonly<Pick<SessionState, 'mode' | 'modes' | 'config'>> };
  setMode(modeId: string): Promise<void>;
  setConfigOption(id: string, value: string | boolean): Promise<void>;
}

/** Returns the mode and the options of a session as they are set now. */
export function choicesOf({ mode, config }: Readonly<Pick<SessionState, 'mode' | 'config'>>): SessionChoices {
  return { mode, config };
}

/** Sets what the agent offers and has set otherwise. @throws what the agent answers */
export async function restoreChoices({ mode, config }: SessionChoices, target: ChoiceTarget): Promise<void> {
  const { state } = target.model;
  if (mode !== undefined && mode !== state.mode && state.modes.some(({ id }) => id === mode))
    await target.setMode(mode);
  for (const { id, value } of config) {
    // Each answer may change what else is offered.
    const offered = state.config.find((option) => option.id === id);
    if (offered && offered.value !== value) await target.setConfigOption(id, value);
  }
}
