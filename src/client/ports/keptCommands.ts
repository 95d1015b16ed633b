// Commands that an agent's keeper runs for it: they outlive the window.
import type { CommandChange, RunningCommand } from '../../terminals/runningCommand';
import type { CommandPlan } from '../../terminals/terminalCommand';

export interface CommandAbout {
  readonly line: string;
  readonly cwd: string;
  readonly limit: number;
  readonly request: string | number;
}

export interface KeptCommandOptions {
  readonly id: string;
  readonly about: CommandAbout;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly capacityBytes: number;
  onChange(change: CommandChange): void;
}

export interface EarlierCommand {
  readonly id: string;
  readonly about: CommandAbout;
  /** @param heard characters of output that earlier windows received */
  follow(heard: number, options: Pick<KeptCommandOptions, 'capacityBytes' | 'onChange'>): RunningCommand;
}

export interface KeptCommands {
  readonly earlier: readonly EarlierCommand[];
  /** @throws the spawn error, with its code */
  start(plan: CommandPlan, options: KeptCommandOptions): Promise<RunningCommand>;
}
