// Errors shown to users: a code for programs, a message and a hint for people, and the cause for
// the log.
import { type LocalizableText, localize } from './localizable';

/** Options of a {@link ParleyError}. */
export interface ParleyErrorOptions {
  /** A sentence on what the user can do. */
  readonly hint?: LocalizableText;
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
  /** The message and the hint, for what is stored and shown later, perhaps in another language. */
  readonly texts: { readonly message: LocalizableText; readonly hint?: LocalizableText };

  constructor(code: string, message: LocalizableText, { hint, stderr, cause }: ParleyErrorOptions = {}) {
    super(localize(message), cause === undefined ? undefined : { cause });
    this.name = 'ParleyError';
    this.code = code;
    this.texts = { message, hint };
    this.hint = hint === undefined ? undefined : localize(hint);
    this.stderr = stderr;
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

/** Returns the message of any thrown value, for what is stored and for other errors. */
export function errorText(error: unknown): LocalizableText {
  return error instanceof ParleyError ? error.texts.message : messageOf(error);
}
