// Mode and options of a demo session. The mode is an option too: clients with support for options
// ignore `modes` (v1, section "Config options").
import { at } from '../base/untrusted';
import { text } from './input';
import { RpcFault } from './wire';

const MODES = [
  { id: 'ask', name: 'Ask', description: 'Ask before each edit and each command' },
  { id: 'auto', name: 'Auto', description: 'Edit and run without asking' },
] as const;

/** Milliseconds per word. */
const PACES = { calm: 60, natural: 30, brisk: 8, instant: 0 } as const;

type Mode = (typeof MODES)[number]['id'];
type Pace = keyof typeof PACES;

export class Settings {
  readonly #booleans: boolean;
  mode: Mode = 'ask';
  #pace: Pace = 'natural';
  emoji = false;

  constructor(booleans: boolean) {
    this.#booleans = booleans;
  }

  get wordMs(): number {
    return PACES[this.#pace];
  }

  /** @throws RpcFault -32602 if the mode does not exist */
  setMode(id: string): void {
    const mode = MODES.find((one) => one.id === id);
    if (mode === undefined) throw new RpcFault(-32602, `There is no mode "${id}".`);
    this.mode = mode.id;
  }

  /** Handles session/set_config_option. @throws RpcFault -32602 */
  setOption(params: unknown): void {
    const id = text(params, 'configId');
    const value = at(params, 'value');
    if (id === 'mode') this.setMode(String(value));
    else if (id === 'pace' && typeof value === 'string' && Object.hasOwn(PACES, value)) this.#pace = value as Pace;
    else if (id === 'emoji' && this.#booleans && typeof value === 'boolean') this.emoji = value;
    else throw new RpcFault(-32602, `"${id}" cannot be set to ${JSON.stringify(value)}.`);
  }

  /** Applies the values of a request that opens a session; ignores invalid ones. */
  begin(values: unknown): void {
    for (const value of Array.isArray(values) ? values : []) {
      try {
        this.setOption(value);
      } catch {
        // The client sets it again later and gets the error then.
      }
    }
  }

  modeState(): object {
    return { currentModeId: this.mode, availableModes: MODES };
  }

  options(): object[] {
    const emoji = {
      id: 'emoji',
      name: 'Emoji',
      description: 'Whether the demo signs its answers',
      type: 'boolean',
      currentValue: this.emoji,
    };
    return [
      {
        id: 'mode',
        name: 'Mode',
        category: 'mode',
        type: 'select',
        currentValue: this.mode,
        options: MODES.map(({ id, name, description }) => ({ value: id, name, description })),
      },
      {
        id: 'pace',
        name: 'Pace',
        description: 'How fast the demo types',
        category: 'speed',
        type: 'select',
        currentValue: this.#pace,
        options: [
          { value: 'calm', name: 'Calm' },
          { value: 'natural', name: 'Natural' },
          { value: 'brisk', name: 'Brisk' },
          { value: 'instant', name: 'Instant' },
        ],
      },
      ...(this.#booleans ? [emoji] : []),
    ];
  }
}
