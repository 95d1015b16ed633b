// What a live conversation needs from its host. The workbench implements it with VS Code; tests in
// plain Node.

/**
 * Uses the editor's unsaved text. Paths are absolute, and in the roots or confirmed by the user.
 */
export interface FilePort {
  /**
   * Returns a file's text as the user sees it: the unsaved buffer, else the disk.
   * @param maxBytes larger files are refused
   * @throws ParleyError `file-not-found`, `file-too-large`, `file-not-text`, `file-unreadable`
   */
  readText(path: string, maxBytes?: number): Promise<string>;
  /**
   * Replaces a file's text, creating the file and its folders. Unchanged parts keep their encoding,
   * line ends and whitespace. Links are followed.
   * @param given the text that the new one is based on; absent: unknown, so the saved text counts
   * @throws ParleyError `file-changed` if the user has edited the same lines since
   */
  writeText(path: string, text: string, given?: GivenText): Promise<void>;
}

/** Text of a file that an agent has read or written. */
export interface GivenText {
  readonly digest: string;
  readonly text?: string;
}

export interface TerminalCommand {
  readonly title: string;
  /** Absolute. */
  readonly command: string;
  /** A string is a Windows command line, already quoted. */
  readonly args: readonly string[] | string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** A program chosen by the agent, which the user must approve. */
  readonly unfamiliar?: string;
}

/** @returns the exit code; undefined if the user closed the terminal. Aborting closes it */
export type SignInTerminal = (command: TerminalCommand, signal: AbortSignal) => Promise<number | undefined>;

export interface Instructions {
  readonly text: string;
  /** The workspace settings file that contains it; absent: the user's settings. */
  readonly file?: string;
  readonly isCut?: true;
}

/** Returns the instructions for an agent's sessions in a folder, the user's first. */
export type SystemPrompt = (agentId: string, cwd: string) => readonly Instructions[];

export interface FactStore {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/** Milliseconds since 1970. */
export interface Clock {
  now(): number;
}
