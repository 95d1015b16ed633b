// Every text of the find widget, whose code is loaded later than the rest of the panel.
import './language';
import * as l10n from '@vscode/l10n';
import { formatNumber } from './format';

export const strings = {
  find: l10n.t('Find'),
  findInSession: l10n.t('Find in session'),
  matchCase: l10n.t('Match Case (Alt+C)'),
  wholeWord: l10n.t('Match Whole Word (Alt+W)'),
  regex: l10n.t('Use Regular Expression (Alt+R)'),
  previous: l10n.t('Previous Match (Shift+Enter)'),
  next: l10n.t('Next Match (Enter)'),
  close: l10n.t('Close (Escape)'),
  noResults: l10n.t('No results'),
  searching: l10n.t('Searching…'),
  position: (at: number, all: number) => l10n.t('{0} of {1}', formatNumber(at), formatNumber(all)),
  problem: {
    invalid: l10n.t('Invalid expression'),
    slow: l10n.t('Expression takes too long'),
  },
} as const;
