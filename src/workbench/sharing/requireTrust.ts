// Nothing is shared or opened from a workspace that the user has not trusted.
import { workspace } from 'vscode';
import { ParleyError } from '../../base/errors';

/** @throws ParleyError `untrusted-workspace` */
export function requireTrust(): void {
  if (workspace.isTrusted) return;
  throw new ParleyError(
    'untrusted-workspace',
    'Sessions are neither shared nor opened in a workspace you have not trusted.',
  );
}
