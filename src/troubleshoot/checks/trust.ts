// Checks whether the workspace is trusted: agents start only in trusted workspaces.
import * as l10n from '@vscode/l10n';
import { type Check, check } from './check';

export function trustCheck(isTrusted: boolean): Check {
  return check('trust', l10n.t('Workspace trust'), 1_000, async () =>
    isTrusted
      ? { outcome: 'ok', found: l10n.t('The workspace is trusted.') }
      : {
          outcome: 'problem',
          found: l10n.t("The workspace isn't trusted, so no agent starts."),
          advice: l10n.t('Trust the workspace if you trust the authors of its files.'),
          action: 'manageTrust',
        },
  );
}

export function notTrusted(): { readonly outcome: 'unchecked'; readonly found: string } {
  return { outcome: 'unchecked', found: l10n.t('No program is started in an untrusted workspace.') };
}
