// The window's side of commands that a keeper runs. They behave like processes of this window, but
// outlive it.
import * as z from 'zod/mini';
import { Deferred } from '../../base/deferred';
import { within } from '../../base/within';
import {
  type CommandOutput,
  type CommandStart,
  type CommandStarted,
  type CommandState,
  FRAME,
  type Frame,
  frame,
  jsonFrame,
} from '../../keeper/wire';
import type { TerminalExit } from '../../session/events/event';
import { OutputTail, type OutputText } from '../../terminals/outputTail';
import type { CommandChange, RunningCommand } from '../../terminals/runningCommand';
import type { CommandPlan } from '../../terminals/terminalCommand';
import type { EarlierCommand, KeptCommandOptions, KeptCommands } from '../ports/keptCommands';

const END_MS = 5_000;

const aboutSchema = z.object({
  line: z.string(),
  cwd: z.string(),
  limit: z.number(),
  request: z.union([z.string(), z.number()]),
});

export function commandLineOf({ about }: CommandState): string | undefined {
  return aboutSchema.safeParse(about).data?.line;
}

type Heard = Pick<KeptCommandOptions, 'capacityBytes' | 'onChange'>;

export class CommandsOfKeeper implements KeptCommands {
  readonly earlier: readonly EarlierCommand[];
  readonly #send: (bytes: Uint8Array) => void;
  readonly #commands = new Map<string, KeptCommand>();
  readonly #starting = new Map<string, Deferred<void>>();
  #isClosed = false;

  constructor(send: (bytes: Uint8Array) => void, states: readonly CommandState[]) {
    this.#send = send;
    this.earlier = states.flatMap(({ id, about, pid }) => {
      const { success, data } = aboutSchema.safeParse(about);
      if (!success) return [];
      return [{ id, about: data, follow: (heard, options) => this.#follow(id, pid, heard, options) }];
    });
  }

  async start(plan: CommandPlan, options: KeptCommandOptions): Promise<RunningCommand> {
    const { id, about, cwd, env, capacityBytes } = options;
    const started = new Deferred<void>();
    this.#starting.set(id, started);
    const command = this.#add(id, undefined, options);
    const start: CommandStart = { ...plan, id, about, cwd, env, capacityBytes };
    if (this.#isClosed) this.closed();
    else this.#send(jsonFrame(FRAME.run, start));
    try {
      await started.promise;
      return command;
    } catch (error) {
      this.#commands.delete(id);
      throw error;
    } finally {
      this.#starting.delete(id);
    }
  }

  take({ kind, bytes }: Frame): void {
    if (kind === FRAME.started) this.#onStarted(JSON.parse(bytes.toString('utf8')) as CommandStarted);
    else if (kind === FRAME.commandOutput) {
      const { id, ...change } = JSON.parse(bytes.toString('utf8')) as CommandOutput;
      this.#commands.get(id)?.take(change);
    }
  }

  closed(): void {
    this.#isClosed = true;
    for (const started of this.#starting.values()) started.reject(new Error('the keeper is gone'));
    for (const command of this.#commands.values()) command.lose();
  }

  #onStarted({ id, pid, failed }: CommandStarted): void {
    const command = this.#commands.get(id);
    if (command) command.pid = pid;
    const started = this.#starting.get(id);
    if (!failed) started?.resolve();
    else if (started) started.reject(Object.assign(new Error(failed.message), { code: failed.code }));
    else command?.take({ exit: {} }); // the window that started it was closed
  }

  #follow(id: string, pid: number | undefined, heard: number, options: Heard): RunningCommand {
    const command = this.#add(id, pid, options, heard);
    this.#send(frame(FRAME.follow, 0, Buffer.from(id)));
    return command;
  }

  #add(id: string, pid: number | undefined, options: Heard, heard = 0): KeptCommand {
    const tell = (kind: number): void => this.#send(frame(kind, 0, Buffer.from(id)));
    const release = (): void => {
      this.#commands.delete(id);
      tell(FRAME.release);
    };
    const command = new KeptCommand(pid, options, heard, { kill: () => tell(FRAME.kill), release });
    this.#commands.set(id, command);
    return command;
  }
}

class KeptCommand implements RunningCommand {
  pid: number | undefined;
  readonly #tail: OutputTail;
  readonly #onChange: (change: CommandChange) => void;
  readonly #keeper: { readonly kill: () => void; readonly release: () => void };
  readonly #exited = new Deferred<TerminalExit>();
  readonly exited = this.#exited.promise;
  exit: TerminalExit | undefined;

  /** Characters of repeated output that were received before. */
  #repeatedChars: number;

  constructor(
    pid: number | undefined,
    { capacityBytes, onChange }: Heard,
    repeatedChars: number,
    keeper: { readonly kill: () => void; readonly release: () => void },
  ) {
    this.pid = pid;
    this.#tail = new OutputTail(capacityBytes);
    this.#onChange = onChange;
    this.#repeatedChars = repeatedChars;
    this.#keeper = keeper;
  }

  output(limit?: number): OutputText {
    return this.#tail.text(limit);
  }

  flush(): void {}

  take(change: CommandChange): void {
    if (this.exit) return;
    const { append = '', drop = 0, exit } = change;
    this.#tail.append(append);
    if (exit) this.exit = exit;
    const fresh = drop + append.length - this.#repeatedChars;
    const dropped = Math.max(0, drop - this.#repeatedChars);
    this.#repeatedChars = Math.max(0, -fresh);
    if (fresh > 0)
      this.#onChange({
        append: append.slice(-Math.min(fresh, append.length)),
        drop: dropped > 0 ? dropped : undefined,
      });
    if (!exit) return;
    this.#onChange({ exit });
    this.#exited.resolve(exit);
  }

  lose(): void {
    this.#exited.resolve(this.exit ?? {});
  }

  async kill(): Promise<void> {
    if (this.#exited.isSettled) return;
    this.#keeper.kill();
    await within(END_MS, this.exited);
  }

  async release(): Promise<void> {
    await this.kill();
    this.#keeper.release();
  }

  /** A command whose agent may outlive this window has no end to wait for. */
  async close(): Promise<void> {
    await within(END_MS, this.exited);
  }

  async closeNow(): Promise<void> {}
}
