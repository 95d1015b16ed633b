// A command that runs for an agent, wherever its process belongs: to this window, or to the keeper of
// its agent.
import type { TerminalExit } from '../session/events/event';
import type { OutputText } from './outputTail';

export interface RunningCommand {
  readonly pid: number | undefined;
  readonly exit: TerminalExit | undefined;
  readonly exited: Promise<TerminalExit>;
  /** The last output. @param limit bytes of UTF-8; absent: all that is kept */
  output(limit?: number): OutputText;
  flush(): void;
  /** Ends it with all that it started; resolves when it has ended, or cannot be ended. */
  kill(): Promise<void>;
  release(): Promise<void>;
  close(): Promise<void>;
  closeNow(): Promise<void>;
}

export interface CommandChange {
  readonly append?: string;
  /** Characters left out before `append`, because they came faster than anybody could see them. */
  readonly drop?: number;
  readonly exit?: TerminalExit;
}
