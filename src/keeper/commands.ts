// Runs the agent's terminal commands, also without a window; the next window gets their output.
import { messageOf } from '../base/errors';
import { silentLog } from '../base/log';
import type { CommandChange } from '../terminals/runningCommand';
import { TerminalProcess } from '../terminals/terminalProcess';
import type { CommandOutput, CommandStart, CommandStarted, CommandState } from './wire';

export interface CommandWindow {
  readonly hasRoom: boolean;
  started(started: CommandStarted): void;
  output(output: CommandOutput): void;
}

interface Held {
  readonly id: string;
  readonly about: unknown;
  readonly starting: Promise<CommandStarted>;
  process: TerminalProcess | undefined;
  /** Characters of output so far, including dropped ones. */
  total: number;
  told: number | undefined;
  isEndTold: boolean;
}

export class Commands {
  readonly #held = new Map<string, Held>();
  readonly #umask: number;
  #window: CommandWindow | undefined;
  #isOver = false;

  constructor(umask: number) {
    this.#umask = umask;
  }

  get states(): readonly CommandState[] {
    return [...this.#held.values()].map(({ id, about, process }) => {
      return { id, about, pid: process?.pid, isRunning: process !== undefined && process.exit === undefined };
    });
  }

  attach(window: CommandWindow): void {
    this.#window = window;
    for (const held of this.#held.values()) {
      held.told = undefined;
      held.isEndTold = false;
    }
  }

  detach(): void {
    this.#window = undefined;
  }

  async run(start: CommandStart): Promise<void> {
    const held = this.#held.get(start.id) ?? this.#start(start);
    const started = await held.starting;
    this.#window?.started(started);
    this.#tell(held);
  }

  kill(id: string): void {
    void this.#held.get(id)?.process?.kill();
  }

  release(id: string): void {
    const held = this.#held.get(id);
    this.#held.delete(id);
    void held?.starting.then(() => held.process?.kill());
  }

  follow(id: string): void {
    const held = this.#held.get(id);
    if (!held) return;
    held.told ??= 0;
    this.#tell(held);
  }

  resume(): void {
    for (const held of this.#held.values()) this.#tell(held);
  }

  get rest(): readonly CommandOutput[] {
    return [...this.#held.values()].flatMap(({ id, process, total }) => {
      if (!process) return [];
      process.flush();
      const { output } = process.output();
      return [{ id, append: output, drop: total - output.length, exit: process.exit ?? {} }];
    });
  }

  async end(): Promise<void> {
    this.#isOver = true;
    const held = [...this.#held.values()];
    await Promise.all(held.map((one) => one.starting.then(() => one.process?.kill())));
  }

  #start(start: CommandStart): Held {
    const held: Held = {
      id: start.id,
      about: start.about,
      starting: this.#spawn(start, (change) => this.#onChange(held, change)).then(
        (process) => {
          held.process = process;
          return { id: start.id, pid: process.pid };
        },
        (error: unknown) => {
          this.#held.delete(start.id);
          const code = error instanceof Error && 'code' in error ? String(error.code) : '';
          return { id: start.id, failed: { code, message: messageOf(error) } };
        },
      ),
      process: undefined,
      total: 0,
      told: 0,
      isEndTold: false,
    };
    this.#held.set(start.id, held);
    return held;
  }

  async #spawn(start: CommandStart, onChange: (change: CommandChange) => void): Promise<TerminalProcess> {
    if (this.#isOver) throw new Error('the agent has ended');
    const { file, args, shell, cwd, env, capacityBytes } = start;
    const options = { cwd, env, umask: this.#umask, capacityBytes, log: silentLog, onChange };
    return TerminalProcess.start({ file, args, shell }, options);
  }

  #onChange(held: Held, { append = '', drop = 0, exit }: CommandChange): void {
    const before = held.total;
    held.total += append.length + drop;
    // New output is forwarded directly; a window that is behind reads from the buffer.
    if (held.process && append !== '' && held.told === before && this.#window?.hasRoom) {
      held.told = held.total;
      this.#window.output({ id: held.id, append, drop: drop > 0 ? drop : undefined });
    }
    if (exit) this.#tell(held);
  }

  #tell(held: Held): void {
    const { id, process, told } = held;
    if (!process || told === undefined || held.isEndTold || !this.#window?.hasRoom) return;
    process.flush();
    const missing = held.total - (held.told ?? 0);
    if (missing > 0) {
      const { output } = process.output();
      const drop = Math.max(0, missing - output.length);
      held.told = held.total;
      this.#window.output({ id, append: output.slice(drop - missing), drop: drop > 0 ? drop : undefined });
    }
    const { exit } = process;
    if (!exit) return;
    held.isEndTold = true;
    this.#window.output({ id, exit });
  }
}
