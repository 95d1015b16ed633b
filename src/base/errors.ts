// Errors for users: a code, a message and a hint, and the cause for the log.
import { type LocalizableText, localize } from './localizable';

export interface ParleyErrorOptions {
  readonly hint?: LocalizableText;
  readonly stderr?: string;
  readonly cause?: unknown;
}

/** An expected failure. `message` is a sentence for the user, `code` is stable and kebab-case. */
export class ParleyError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly stderr: string | undefined;
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

export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string') {
    return error.message;
  }
  return String(error);
}

export function errorText(error: unknown): LocalizableText {
  return error instanceof ParleyError ? error.texts.message : messageOf(error);
}
