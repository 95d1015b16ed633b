// What a live conversation needs from outside. The workbench implements these over VS Code; tests
// implement them in plain Node.

/**
 * Files, through the editor if it has unsaved text. Paths are absolute and inside the roots or
 * confirmed.
 */
export interface FilePort {
  /**
   * The text of a file as the user sees it: an unsaved buffer before the disk.
   * @param maxBytes a larger file is refused
   * @throws ParleyError `file-not-found`, `file-too-large`, `file-not-text`, `file-unreadable`
   */
  readText(path: string, maxBytes?: number): Promise<string>;
  /**
   * Replaces the text of a file (creating it and its folders). Unchanged parts keep their bytes:
   * encoding, line ends, blanks. Links are followed.
   * @param given what the text was made from; absent: not known, and what is saved counts
   * @throws ParleyError `file-changed` if the user has edited the same lines since
   */
  writeText(path: string, text: string, given?: GivenText): Promise<void>;
}

/** A text of a file that an agent was given, or has written. */
export interface GivenText {
  readonly digest: string;
  readonly text?: string;
}

export interface TerminalCommand {
  readonly title: string;
  /** Absolute. */
  readonly command: string;
  /** A string is the command line of Windows, quoted already. */
  readonly args: readonly string[] | string;
  /** Complete. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** A program of the agent's choice that the user has to agree to. */
  readonly unfamiliar?: string;
}

/** @returns the exit code; undefined if the user closed the terminal. Aborting closes it */
export type SignInTerminal = (command: TerminalCommand, signal: AbortSignal) => Promise<number | undefined>;

/** Appended to the agent's own instructions. */
export interface Instructions {
  readonly text: string;
  /** The settings file of the workspace that has it; absent: the user's. */
  readonly file?: string;
  readonly isCut?: true;
}

/** Returns the instructions for the sessions of an agent in a folder, the user's first. */
export type SystemPrompt = (agentId: string, cwd: string) => readonly Instructions[];

/** What was learned of agents. */
export interface FactStore {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/** Milliseconds since 1970. */
export interface Clock {
  now(): number;
}
