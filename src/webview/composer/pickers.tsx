// Pickers for the session's mode and the agent's options: lists or switches.
import { useRef } from 'preact/hooks';
import { revealControls } from '../../base/revealControls';
import type { ConfigOption } from '../../panel/contract';
import { Icon } from '../components/icon';
import { Popup } from '../components/popup';
import type { IconName } from '../dom/icons';
import { post } from '../host/host';
import { session } from '../host/session';
import { strings } from '../text/strings';

/**
 * In display order; other options follow. Icons distinguish a mode and a model that are both
 * “Default”.
 */
const ICON_OF: Readonly<Record<string, IconName>> = {
  mode: 'compass',
  model: 'chip',
  thought_level: 'lightbulb',
  speed: 'zap',
};
const ORDER = Object.keys(ICON_OF);

type Switch = Extract<ConfigOption, { type: 'boolean' }>;
type Select = Extract<ConfigOption, { type: 'select' }>;

export function Pickers() {
  const pickers = useRef<HTMLDivElement>(null);
  const options = optionsOf(session.config.value);
  const switches = options.filter(isPlainSwitch);
  const isGathered = switches.length > 1;
  const selects = options.filter((option) => option.type === 'select');
  if (options.length === 0) return <div class="pickers" />;

  function choose(id: string): void {
    const option = options.find((option) => option.id === id)!;
    if (option.type === 'boolean') set(option, !option.value);
    else
      pickers.current
        ?.querySelectorAll<HTMLElement>(':scope > .popup-anchor > button')
        [selects.indexOf(option)]?.click();
  }

  return (
    <div class="pickers" ref={pickers}>
      {options.map((option) =>
        option.type === 'select' ? (
          <Picker key={option.id} option={option} isAmbiguous={isAmbiguous(option, selects)} />
        ) : (
          !(isGathered && isPlainSwitch(option)) && <Toggle key={option.id} option={option} />
        ),
      )}
      {isGathered && <Switches options={switches} />}
      <div class="all-options">
        <Popup
          role="menu"
          label={strings.allOptions}
          class="icon-button"
          items={options.map((option) => ({
            id: option.id,
            label: option.name,
            ...(option.type === 'boolean' ? { isOn: option.value } : { description: nameOf(option) }),
          }))}
          onChoose={choose}
        >
          <Icon name="ellipsis" />
        </Popup>
      </div>
    </div>
  );
}

/** Leaves out modes that the agent also offers as an option. */
function optionsOf(config: readonly ConfigOption[]): readonly ConfigOption[] {
  const modes = session.modes.value.map(({ id, ...mode }) => ({ value: id, ...mode }));
  const hasMode = modes.length === 0 || config.some(({ category }) => category === 'mode');
  const mode: ConfigOption = {
    id: '',
    name: strings.mode,
    category: 'mode',
    type: 'select',
    value: session.mode.value ?? '',
    values: modes,
  };
  return (hasMode ? config : [mode, ...config]).toSorted((a, b) => rankOf(a) - rankOf(b));
}

function rankOf({ category = '' }: ConfigOption): number {
  const rank = ORDER.indexOf(category);
  return rank < 0 ? ORDER.length : rank;
}

function set({ id }: ConfigOption, value: string | boolean): void {
  if (id === '' && typeof value === 'string') post({ type: 'setMode', modeId: value });
  else post({ type: 'setConfig', id, value });
}

/** A switch with an icon, such as speed, stays visible, because a faster model costs more. */
function isPlainSwitch(option: ConfigOption): option is Switch {
  return option.type === 'boolean' && iconOf(option) === undefined;
}

function kindOf(option: ConfigOption): string {
  return iconOf(option) === undefined ? 'plain' : option.category!;
}

function iconOf({ category = '' }: ConfigOption): IconName | undefined {
  return Object.hasOwn(ICON_OF, category) ? ICON_OF[category] : undefined;
}

/** Icons distinguish options with equal values. */
function isAmbiguous(option: Select, all: readonly Select[]): boolean {
  return all.some((other) => other !== option && iconOf(other) === iconOf(option) && nameOf(other) === nameOf(option));
}

function nameOf({ value, values }: Select): string {
  return values.find((choice) => choice.value === value)?.name ?? value;
}

function titleOf({ name, description }: ConfigOption, value: string): string {
  return [`${name}: ${value}`, ...(description ? [description] : [])].join('\n');
}

/** Groups switches, which would fill the bar. */
function Switches({ options }: { readonly options: readonly Switch[] }) {
  const on = options.filter(({ value }) => value).map(({ name }) => name);
  return (
    <Popup
      role="menu"
      label={strings.options}
      class="pick plain"
      value={on.join(', ') || strings.off}
      title={`${strings.options}: ${on.join(', ') || strings.off}`}
      items={options.map(({ id, name, description, value }) => ({ id, label: name, description, isOn: value }))}
      onChoose={(id) =>
        post({ type: 'setConfig', id, value: !options.some((option) => option.id === id && option.value) })
      }
    >
      <Icon name="checklist" />
      <span class="cut">{on.join(', ') || strings.options}</span>
      <Icon name="chevron-down" />
    </Popup>
  );
}

function Toggle({ option }: { readonly option: Switch }) {
  const icon = iconOf(option);
  return (
    <button
      type="button"
      class={`pick toggle ${kindOf(option)}`}
      role="switch"
      aria-checked={option.value}
      aria-label={option.name}
      title={titleOf(option, option.value ? strings.on : strings.off)}
      onClick={() => set(option, !option.value)}
    >
      <span class="switch" aria-hidden="true" />
      {icon && <Icon name={icon} />}
      <span class="cut">{revealControls(option.name)}</span>
    </button>
  );
}

function Picker({ option, isAmbiguous }: { readonly option: Select; readonly isAmbiguous: boolean }) {
  const current = nameOf(option);
  return (
    <Popup
      role="listbox"
      label={option.name}
      value={current}
      class={`pick ${kindOf(option)}`}
      title={titleOf(option, current)}
      items={option.values.map(({ value, name, description, group }) => ({
        id: value,
        label: name,
        description,
        group,
      }))}
      selected={option.value}
      onChoose={(value) => set(option, value)}
    >
      <Icon name={iconOf(option) ?? 'settings'} />
      <span class="cut">{revealControls(isAmbiguous ? `${option.name}: ${current}` : current)}</span>
      <Icon name="chevron-down" />
    </Popup>
  );
}
