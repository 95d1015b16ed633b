// The mode and options of a session: what the agent reports, what the user has set, and what must
// be in effect before the next prompt is sent.
import type { Choice, ConfigOption, SessionMode } from '../events/content';
import type { EventOf } from '../events/event';
import type { ModelContext } from './context';
import { MODE_ID, type SessionState } from './state';

type ChoiceState = Pick<SessionState, 'mode' | 'modes' | 'config' | 'confirmed'>;
type SelectOption = Extract<ConfigOption, { type: 'select' }>;

export type ChoiceTarget =
  | { readonly kind: 'mode'; readonly value: string; readonly current: string | undefined }
  | { readonly kind: 'option'; readonly option: ConfigOption; readonly value: string | boolean };

export function applyChoices(
  { state, note }: ModelContext,
  event: EventOf<'modes' | 'mode' | 'config' | 'choices'>,
): void {
  switch (event.type) {
    case 'modes':
      state.modes = event.modes;
      state.mode = event.modes.length > 0 ? event.current : undefined;
      state.confirmed = { ...state.confirmed, mode: true };
      return;
    case 'mode':
      applyMode(state, event.current);
      state.confirmed = { ...state.confirmed, mode: !event.isPast };
      if (event.byUser) state.chosen.add(MODE_ID);
      note((changes) => changes.part('config'));
      return;
    case 'config':
      state.config = event.options;
      state.confirmed = { ...state.confirmed, config: !event.isPast };
      if (event.chosen !== undefined) state.chosen.add(event.chosen);
      return;
    case 'choices':
      state.wanted = event.wanted;
      if (event.agentId !== undefined) state.choicesOf = event.agentId;
      if (!event.opens) return;
      state.isOpening = true;
      state.confirmed = { mode: false, config: false };
  }
}

export function applyTitle(state: SessionState, { title, byUser }: EventOf<'info'>): void {
  if (title === undefined || (state.isNamed && !byUser)) return;
  state.title = title ?? undefined;
  state.isNamed = byUser === true;
}

export function applyPromptSent(state: SessionState): void {
  state.isOpening = false;
  state.wanted = [];
}

export function modeOption(config: readonly ConfigOption[]): SelectOption | undefined {
  return config.find(
    (option): option is SelectOption => isSelect(option) && (option.category === 'mode' || option.id === 'mode'),
  );
}

/** Some agents offer their modes as values of an option of another category. */
function applyMode(state: SessionState, mode: string): void {
  const { modes, config } = state;
  const isListed = modes.some(({ id }) => id === mode);
  const option =
    modeOption(config) ?? (isListed ? undefined : config.find((one) => isSelect(one) && offers(one, mode)));
  state.mode = mode;
  if (!option || !offers(option, mode)) return;
  state.config = config.map((one) => (one === option && isSelect(one) ? { ...one, value: mode } : one));
}

/** Returns the selectable modes. An unlisted current mode is included by its id. */
export function offeredModes({
  modes,
  mode,
  config,
}: Readonly<Pick<SessionState, 'mode' | 'modes' | 'config'>>): readonly SessionMode[] {
  if (mode === undefined || modes.some(({ id }) => id === mode)) return modes;
  const isOption = modeOption(config) !== undefined || config.some(({ value }) => value === mode);
  return isOption ? modes : [...modes, { id: mode, name: mode }];
}

function isSelect(option: ConfigOption): option is SelectOption {
  return option.type === 'select';
}

export function targetOf(state: Readonly<ChoiceState>, choice: Choice): ChoiceTarget | undefined {
  const { value } = choice;
  const named = choice.id === undefined ? undefined : state.config.find(({ id }) => id === choice.id);
  const option = named ?? (choice.isMode ? modeOption(state.config) : undefined);
  if (option && offers(option, value)) return { kind: 'option', option, value };
  if (!choice.isMode || typeof value !== 'string' || !state.modes.some(({ id }) => id === value)) return undefined;
  return { kind: 'mode', value, current: state.mode };
}

export function isInForce(state: Readonly<ChoiceState>, choice: Choice): boolean {
  const target = targetOf(state, choice);
  if (!target) return false;
  if (target.kind === 'mode') return state.confirmed.mode && target.current === target.value;
  return state.confirmed.config && target.option.value === target.value;
}

export function isSameSetting(a: Choice, b: Choice): boolean {
  return a.id === b.id || (a.isMode === true && b.isMode === true);
}

/** Some agents use a value that they do not list. */
export function offers(option: ConfigOption, value: string | boolean): boolean {
  if (option.type === 'boolean') return typeof value === 'boolean';
  return option.value === value || option.values.some((one) => one.value === value);
}
