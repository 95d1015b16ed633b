// The session's mode and the agent's options, each a small list or a switch.
import { revealControls } from '../../base/revealControls';
import type { ConfigOption } from '../../panel/contract';
import { Icon } from '../components/icon';
import { Popup } from '../components/popup';
import type { IconName } from '../dom/icons';
import { post } from '../host/host';
import { session } from '../host/session';
import { strings } from '../text/strings';

/** Without icons, a mode and a model named “Default” look the same. */
const ICON_OF = {
  mode: 'compass',
  model: 'chip',
  thought_level: 'lightbulb',
  speed: 'zap',
} as const satisfies Record<string, IconName>;

function iconOf({ category }: ConfigOption): IconName | undefined {
  return ICON_OF[category as keyof typeof ICON_OF];
}

export function Pickers() {
  const { modes, mode, config } = session;
  // Some agents offer their modes as an option too.
  const showModes = modes.value.length > 0 && !config.value.some(({ category }) => category === 'mode');
  const switches = config.value.filter(isPlainSwitch);
  const isGathered = switches.length > 1;
  const currentMode = modes.value.find(({ id }) => id === mode.value);
  return (
    <>
      {showModes && (
        <Popup
          role="listbox"
          label={strings.mode}
          value={currentMode?.name ?? mode.value}
          title={`${strings.mode}: ${currentMode?.name ?? mode.value ?? ''}`}
          items={modes.value.map(({ id, name, description }) => ({ id, label: name, description }))}
          selected={mode.value}
          onChoose={(modeId) => post({ type: 'setMode', modeId })}
        >
          <Icon name={ICON_OF.mode} />
          <span class="cut">{revealControls(currentMode?.name ?? mode.value ?? strings.mode)}</span>
          <Icon name="chevron-down" />
        </Popup>
      )}
      {config.value.map(
        (option) => !(isGathered && isPlainSwitch(option)) && <ConfigPicker key={option.id} option={option} />,
      )}
      {isGathered && <Switches options={switches} />}
    </>
  );
}

type Switch = Extract<ConfigOption, { type: 'boolean' }>;

/** A switch with an icon, such as the speed, stays in sight: a faster model costs more. */
function isPlainSwitch(option: ConfigOption): option is Switch {
  return option.type === 'boolean' && !iconOf(option);
}

/** Several switches would fill the bar. */
function Switches({ options }: { readonly options: readonly Switch[] }) {
  const on = options.filter(({ value }) => value).map(({ name }) => name);
  return (
    <Popup
      role="menu"
      label={strings.options}
      value={on.join(', ') || strings.off}
      title={`${strings.options}: ${on.join(', ') || strings.off}`}
      items={options.map(({ id, name, description, value }) => ({ id, label: name, description, isOn: value }))}
      onChoose={(id) => post({ type: 'setConfig', id, value: !options.some((one) => one.id === id && one.value) })}
    >
      <Icon name="checklist" />
      <span class="cut">{on.join(', ') || strings.options}</span>
      <Icon name="chevron-down" />
    </Popup>
  );
}

function ConfigPicker({ option }: { readonly option: ConfigOption }) {
  const icon = iconOf(option);
  const title = `${option.name}${option.description ? `: ${option.description}` : ''}`;
  if (option.type === 'boolean') {
    return (
      <button
        type="button"
        class="pick toggle"
        role="switch"
        aria-checked={option.value}
        aria-label={option.name}
        title={`${title} (${option.value ? strings.on : strings.off})`}
        onClick={() => post({ type: 'setConfig', id: option.id, value: !option.value })}
      >
        <span class="switch" aria-hidden="true" />
        {icon && <Icon name={icon} />}
        <span class="cut">{revealControls(option.name)}</span>
      </button>
    );
  }
  const current = nameOf(option);
  const isAmbiguous = session.config.value.some((other) => other.id !== option.id && nameOf(other) === current);
  return (
    <Popup
      role="listbox"
      label={option.name}
      value={current}
      title={title}
      items={option.values.map(({ value, name, description, group }) => ({
        id: value,
        label: name,
        description,
        group,
      }))}
      selected={option.value}
      onChoose={(value) => post({ type: 'setConfig', id: option.id, value })}
    >
      {icon && <Icon name={icon} />}
      <span class="cut">{revealControls(isAmbiguous ? `${option.name}: ${current}` : (current ?? ''))}</span>
      <Icon name="chevron-down" />
    </Popup>
  );
}

function nameOf(option: ConfigOption): string | undefined {
  if (option.type === 'boolean') return undefined;
  return option.values.find(({ value }) => value === option.value)?.name ?? option.value;
}
