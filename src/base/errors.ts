// Errors that a person will read: a code for programs, a sentence for people, what to do next, and the cause for the log.

/** Options of a {@link ParleyError}. */
export interface ParleyErrorOptions {
  /** What the user can do about it, as a sentence. */
  readonly hint?: string;
  /** The last lines of the agent's stderr, where they help. */
  readonly stderr?: string;
  readonly cause?: unknown;
}

/** An expected failure. `message` is a sentence for the user; `code` is stable and for programs (kebab-case). */
export class ParleyError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly stderr: string | undefined;

  constructor(code: string, message: string, options: ParleyErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ParleyError';
    this.code = code;
    this.hint = options.hint;
    this.stderr = options.stderr;
  }
}

/** The sentence of any thrown value. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string') {
    return error.message;
  }
  return String(error);
}
