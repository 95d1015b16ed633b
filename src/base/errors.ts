// Errors shown to users: a code for programs, a message and a hint for people, and the cause for
// the log.

/** Options of a {@link ParleyError}. */
export interface ParleyErrorOptions {
  /** A sentence on what the user can do. */
  readonly hint?: string;
  /** The last lines of the agent's stderr, if relevant. */
  readonly stderr?: string;
  readonly cause?: unknown;
}

/**
 * An expected failure. `message` is a sentence for the user; `code` is stable and in kebab-case.
 */
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

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string') {
    return error.message;
  }
  return String(error);
}
