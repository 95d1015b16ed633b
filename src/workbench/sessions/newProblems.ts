// Which errors in a file are new, as far as it can be known. Pure.

import type { Problem } from '../editorTools/readers/problems';

/** An error, and the line of the file that it is in. */
export interface FileError extends Pick<Problem, 'code' | 'message'> {
  readonly text: string;
}

/** What is known of a file before something changed it. */
export interface Earlier {
  /** Its errors, by {@link signatureOf}; absent: nobody had looked at the file. */
  readonly errors?: ReadonlySet<string> | undefined;
  /** Its text; absent: not known. Empty: there was no file. */
  readonly text?: string | undefined;
}

/** The same error on another line is not new. */
export function signatureOf({ code, message }: Pick<Problem, 'code' | 'message'>): string {
  return `${code}\0${message}`;
}

/**
 * Returns those errors that were not there before. Where nobody had looked at the file, only those in
 * lines that were not in it: it may have had the others all along.
 */
export function newErrors<E extends FileError>(errors: readonly E[], { errors: known, text }: Earlier): readonly E[] {
  if (known) return errors.filter((error) => !known.has(signatureOf(error)));
  if (text === undefined) return [];
  const lines = new Set(text.split(/\r\n?|\n/).map((line) => line.trim()));
  return errors.filter((error) => !lines.has(error.text.trim()));
}
