// Messages for disk errors during an installation.

import * as l10n from '@vscode/l10n';
import { ParleyError, type ParleyErrorOptions } from '../../base/errors';
import { localizable } from '../../base/localizable';

/** @param options what a program has printed about it, or the cause */
export function diskFull(options: Omit<ParleyErrorOptions, 'hint'>): ParleyError {
  const hint = l10n.t('Free some space, then try again.');
  return new ParleyError('disk-full', localizable('The disk is full.'), { ...options, hint });
}

/** Returns an error with a message for a file system error; any other error unchanged. */
export function diskError(error: unknown): unknown {
  if (error instanceof ParleyError || !(error instanceof Error) || !('code' in error)) return error;
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') return diskFull({ cause: error });
  if (error.code === 'EACCES' || error.code === 'EPERM' || error.code === 'EROFS')
    return new ParleyError('not-writable', localizable("Parley's folder can't be written: {0}", error.message), {
      cause: error,
    });
  return error;
}
