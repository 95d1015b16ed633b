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

interface Command {
  readonly id: string;
  readonly about: unknown;
  readonly starting: Promise<CommandStarted>;
  process: TerminalProcess | undefined;
  /** Characters of output so far, including dropped ones. */
  totalChars: number;
  sentChars: number | undefined;
  isExitSent: boolean;
}

export class Commands {
  readonly #commands = new Map<string, Command>();
  readonly #umask: number;
  #window: CommandWindow | undefined;
  #isEnded = false;

  constructor(umask: number) {
    this.#umask = umask;
  }

  get states(): readonly CommandState[] {
    return [...this.#commands.values()].map(({ id, about, process }) => {
      return { id, about, pid: process?.pid, isRunning: process !== undefined && process.exit === undefined };
    });
  }

  attach(window: CommandWindow): void {
    this.#window = window;
    for (const command of this.#commands.values()) {
      command.sentChars = undefined;
      command.isExitSent = false;
    }
  }

  detach(): void {
    this.#window = undefined;
  }

  async run(start: CommandStart): Promise<void> {
    const command = this.#commands.get(start.id) ?? this.#startCommand(start);
    const started = await command.starting;
    this.#window?.started(started);
    this.#sendPending(command);
  }

  kill(id: string): void {
    void this.#commands.get(id)?.process?.kill();
  }

  release(id: string): void {
    const command = this.#commands.get(id);
    this.#commands.delete(id);
    void command?.starting.then(() => command.process?.kill());
  }

  follow(id: string): void {
    const command = this.#commands.get(id);
    if (!command) return;
    command.sentChars ??= 0;
    this.#sendPending(command);
  }

  resume(): void {
    for (const command of this.#commands.values()) this.#sendPending(command);
  }

  get rest(): readonly CommandOutput[] {
    return [...this.#commands.values()].flatMap(({ id, process, totalChars }) => {
      if (!process) return [];
      process.flush();
      const { output } = process.output();
      return [{ id, append: output, drop: totalChars - output.length, exit: process.exit ?? {} }];
    });
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    const commands = [...this.#commands.values()];
    await Promise.all(commands.map((command) => command.starting.then(() => command.process?.kill())));
  }

  #startCommand(start: CommandStart): Command {
    const command: Command = {
      id: start.id,
      about: start.about,
      starting: this.#spawn(start, (change) => this.#onChange(command, change)).then(
        (process) => {
          command.process = process;
          return { id: start.id, pid: process.pid };
        },
        (error: unknown) => {
          this.#commands.delete(start.id);
          const code = error instanceof Error && 'code' in error ? String(error.code) : '';
          return { id: start.id, failed: { code, message: messageOf(error) } };
        },
      ),
      process: undefined,
      totalChars: 0,
      sentChars: 0,
      isExitSent: false,
    };
    this.#commands.set(start.id, command);
    return command;
  }

  async #spawn(start: CommandStart, onChange: (change: CommandChange) => void): Promise<TerminalProcess> {
    if (this.#isEnded) throw new Error('the agent has ended');
    const { file, args, shell, cwd, env, capacityBytes } = start;
    const options = { cwd, env, umask: this.#umask, capacityBytes, log: silentLog, onChange };
    return TerminalProcess.start({ file, args, shell }, options);
  }

  #onChange(command: Command, { append = '', drop = 0, exit }: CommandChange): void {
    const before = command.totalChars;
    command.totalChars += append.length + drop;
    // New output is forwarded directly; a window that is behind reads from the buffer.
    if (command.process && append !== '' && command.sentChars === before && this.#window?.hasRoom) {
      command.sentChars = command.totalChars;
      this.#window.output({ id: command.id, append, drop: drop > 0 ? drop : undefined });
    }
    if (exit) this.#sendPending(command);
  }

  #sendPending(command: Command): void {
    const { id, process, sentChars } = command;
    if (!process || sentChars === undefined || command.isExitSent || !this.#window?.hasRoom) return;
    process.flush();
    const missing = command.totalChars - (command.sentChars ?? 0);
    if (missing > 0) {
      const { output } = process.output();
      const drop = Math.max(0, missing - output.length);
      command.sentChars = command.totalChars;
      this.#window.output({ id, append: output.slice(drop - missing), drop: drop > 0 ? drop : undefined });
    }
    const { exit } = process;
    if (!exit) return;
    command.isExitSent = true;
    this.#window.output({ id, exit });
  }
}
