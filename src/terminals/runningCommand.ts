// A command that runs for an agent, wherever its process belongs: to this window, or to the keeper of
// its agent.
import type { TerminalExit } from '../session/events/event';
import type { OutputText } from './outputTail';

export interface RunningCommand {
  readonly pid: number | undefined;
  /** How it ended; undefined while it runs. */
  readonly exit: TerminalExit | undefined;
  /** Resolves at its end, after its last output. */
  readonly exited: Promise<TerminalExit>;
  /** The last output. @param limit bytes of UTF-8; absent: all that is kept */
  output(limit?: number): OutputText;
  /** Hands on the output that waits for its window. */
  flush(): void;
  /** Ends it with all that it started; resolves when it has ended, or cannot be ended. */
  kill(): Promise<void>;
  /** The same, and its output is asked for no more. */
  release(): Promise<void>;
  /** Its agent is no longer heard here. It ends too, unless a keeper has both. */
  close(): Promise<void>;
  /** The same at once: the window ends. */
  closeNow(): Promise<void>;
}

/** What became known of a command. */
export interface CommandChange {
  /** New output, after what came before. */
  readonly append?: string;
  /** Characters left out before `append`, because they came faster than anybody could see them. */
  readonly drop?: number;
  readonly exit?: TerminalExit;
}
