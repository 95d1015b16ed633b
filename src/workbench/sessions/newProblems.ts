// Which errors in a file are new, as far as it can be known. Pure.

import type { Problem } from '../editorTools/readers/problems';

export interface FileError extends Pick<Problem, 'code' | 'message'> {
  readonly text: string;
}

export interface Earlier {
  /** By {@link signatureOf}; absent: unknown. */
  readonly errors?: ReadonlySet<string> | undefined;
  /** Absent: unknown. Empty: there was no file. */
  readonly text?: string | undefined;
}

/** The same error on another line is not new. */
export function signatureOf({ code, message }: Pick<Problem, 'code' | 'message'>): string {
  return `${code}\0${message}`;
}

/**
 * Returns errors that are new. If the earlier errors are unknown, only those in new lines: the file
 * may have had the others before.
 */
export function newErrors<E extends FileError>(errors: readonly E[], { errors: known, text }: Earlier): readonly E[] {
  if (known) return errors.filter((error) => !known.has(signatureOf(error)));
  if (text === undefined) return [];
  const lines = new Set(text.split(/\r\n?|\n/).map((line) => line.trim()));
  return errors.filter((error) => !lines.has(error.text.trim()));
}
