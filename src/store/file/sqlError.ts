// Classifies failures of SQLite and the file system, with messages for the user.
import * as l10n from '@vscode/l10n';

/** Why the journal file cannot be used. `newer`: it was created by a later version of Parley. */
export type StorageProblem = 'full' | 'read-only' | 'locked' | 'corrupt' | 'unusable' | 'newer';

export class StorageError extends Error {
  readonly problem: StorageProblem;

  constructor(problem: StorageProblem, cause?: unknown) {
    super(`journal: ${problem}`, { cause });
    this.name = 'StorageError';
    this.problem = problem;
  }
}

/** Primary result codes (https://sqlite.org/rescode.html), the low byte of extended ones. */
const BY_CODE: Readonly<Record<number, StorageProblem>> = {
  3: 'read-only', // PERM
  5: 'locked', // BUSY
  6: 'locked', // LOCKED
  8: 'read-only', // READONLY
  10: 'unusable', // IOERR
  11: 'corrupt', // CORRUPT
  13: 'full', // FULL
  14: 'unusable', // CANTOPEN
  15: 'locked', // PROTOCOL
  26: 'corrupt', // NOTADB
};
const BY_ERRNO: Readonly<Record<string, StorageProblem>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EROFS: 'read-only',
  EACCES: 'read-only',
  EPERM: 'read-only',
};
const CORRUPT_INDEX = 267;

export function problemOf(error: unknown): StorageProblem | undefined {
  if (error instanceof StorageError) return error.problem;
  if (typeof error !== 'object' || error === null) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return BY_CODE[error.errcode & 0xff];
  if ('syscall' in error && 'code' in error && typeof error.code === 'string')
    return BY_ERRNO[error.code] ?? 'unusable';
  return undefined;
}

export function isIndexDamage(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'errcode' in error && error.errcode === CORRUPT_INDEX;
}

export function messageFor(problem: StorageProblem): { readonly message: string; readonly hint: string } {
  switch (problem) {
    case 'full':
      return {
        message: l10n.t('The disk is full, so sessions are kept in memory only.'),
        hint: l10n.t('Free up disk space. Parley then saves the sessions.'),
      };
    case 'read-only':
      return {
        message: l10n.t("Parley can't write to its storage folder, so sessions are kept in memory only."),
        hint: l10n.t('Allow writing to the storage folder. Parley then saves the sessions.'),
      };
    case 'locked':
      return {
        message: l10n.t("Another program is locking Parley's session history, so sessions are kept in memory only."),
        hint: l10n.t('Close that program. Parley then saves the sessions.'),
      };
    case 'newer':
      return {
        message: l10n.t('The session history is from a newer version of Parley, so sessions are kept in memory only.'),
        hint: l10n.t('Update Parley to see earlier sessions and to save new ones.'),
      };
    case 'corrupt':
    case 'unusable':
      return {
        message: l10n.t("Parley can't use its session history, so sessions are kept in memory only."),
        hint: l10n.t('Check the storage folder. The log has the reason.'),
      };
  }
}
