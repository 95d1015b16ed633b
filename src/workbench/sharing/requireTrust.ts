// Nothing is shared or opened from a workspace that the user has not trusted.

import { workspace } from 'vscode';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';

/** @throws ParleyError `untrusted-workspace` */
export function requireTrust(): void {
  if (workspace.isTrusted) return;
  throw new ParleyError(
    'untrusted-workspace',
    localizable("Sessions can't be shared or opened in an untrusted workspace."),
  );
}
