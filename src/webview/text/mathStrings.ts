// Every text about formulas, whose code is loaded when the first one is drawn.
import './language';
import * as l10n from '@vscode/l10n';

export const strings = {
  problem: {
    tooLong: l10n.t('Not drawn: the formula is too long'),
    tooDeep: l10n.t('Not drawn: the formula is nested too deeply'),
    tooLarge: l10n.t('Not drawn: the formula has a size that is too large'),
    notAllowed: l10n.t("Not drawn: the formula has a command that isn't supported"),
    notRead: (reason: string) =>
      reason === '' ? l10n.t('Not drawn: invalid formula') : l10n.t('Not drawn: {0}', reason),
  },
} as const;
