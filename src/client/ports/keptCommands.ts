// The commands that an agent's keeper runs for it: they go on when this window ends.
import type { CommandChange, RunningCommand } from '../../terminals/runningCommand';
import type { CommandPlan } from '../../terminals/terminalCommand';

/** What the next window is told of a command. */
export interface CommandAbout {
  /** As a person would type it. */
  readonly line: string;
  readonly cwd: string;
  /** Bytes of output that the agent sees at most. */
  readonly limit: number;
  /** The id of the agent's request for it. */
  readonly request: string | number;
}

export interface KeptCommandOptions {
  readonly id: string;
  readonly about: CommandAbout;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Bytes of output that are kept. */
  readonly capacityBytes: number;
  /** Told of output, and of the end after the last output. */
  onChange(change: CommandChange): void;
}

/** A command of an earlier window, which may have ended since. */
export interface EarlierCommand {
  readonly id: string;
  readonly about: CommandAbout;
  /**
   * Begins to hear it. @param heard characters of its output that the windows before had
   * @param capacityBytes bytes of output that are kept
   */
  follow(heard: number, options: Pick<KeptCommandOptions, 'capacityBytes' | 'onChange'>): RunningCommand;
}

export interface KeptCommands {
  /** Those that run since before this window attached. */
  readonly earlier: readonly EarlierCommand[];
  /** @throws the spawn error, with its code, where it did not start */
  start(plan: CommandPlan, options: KeptCommandOptions): Promise<RunningCommand>;
}
