// Nothing is shared or opened from a workspace that the user has not trusted.
import { l10n, workspace } from 'vscode';
import { ParleyError } from '../../base/errors';

/** @throws ParleyError `untrusted-workspace` */
export function requireTrust(): void {
  if (workspace.isTrusted) return;
  throw new ParleyError('untrusted-workspace', l10n.t("Sessions can't be shared or opened in an untrusted workspace."));
}
