// Determines which errors in a file are new, as far as possible. Pure.

import type { Problem } from '../editorTools/readers/problems';

export interface FileError extends Pick<Problem, 'code' | 'message'> {
  readonly text: string;
}

export interface Earlier {
  /** Signatures of {@link signatureOf}; absent if unknown. */
  readonly errors?: ReadonlySet<string> | undefined;
  /** Absent if unknown; empty if the file did not exist. */
  readonly text?: string | undefined;
}

/** Returns the same value for an error on another line. */
export function signatureOf({ code, message }: Pick<Problem, 'code' | 'message'>): string {
  return `${code}\0${message}`;
}

/** If the earlier errors are unknown, only those in new lines. */
export function newErrors<E extends FileError>(errors: readonly E[], { errors: known, text }: Earlier): readonly E[] {
  if (known) return errors.filter((error) => !known.has(signatureOf(error)));
  if (text === undefined) return [];
  const lines = new Set(text.split(/\r\n?|\n/).map((line) => line.trim()));
  return errors.filter((error) => !lines.has(error.text.trim()));
}
