// A command that runs for an agent, in this window or in the agent's keeper.
import type { TerminalExit } from '../session/events/event';
import type { OutputText } from './outputTail';

export interface RunningCommand {
  readonly pid: number | undefined;
  readonly exit: TerminalExit | undefined;
  readonly exited: Promise<TerminalExit>;
  /** Returns the end of the output. @param limit bytes of UTF-8; default: all that is retained */
  output(limit?: number): OutputText;
  flush(): void;
  /** Kills the process tree. Resolves when it has exited or can't be killed. */
  kill(): Promise<void>;
  release(): Promise<void>;
  close(): Promise<void>;
  closeNow(): Promise<void>;
}

export interface CommandChange {
  readonly append?: string;
  /** Characters dropped before `append` because output came too fast to display. */
  readonly drop?: number;
  readonly exit?: TerminalExit;
}
