// Every text of the card about the time away, whose code is loaded later than the rest of the panel.

import * as l10n from '@vscode/l10n';
import { formatCost, formatCount, plural } from './format';
import { language } from './language';

export const strings = {
  title: l10n.t('While you were away'),
  newSince: (at: number) => l10n.t('New since {0}', clock(at)),
  dismiss: l10n.t('Dismiss'),
  showQuestion: l10n.t('Show question'),
  files: (count: number) =>
    plural(
      count,
      (n) => l10n.t('{0} file changed', n),
      (n) => l10n.t('{0} files changed', n),
    ),
  commands: (count: number) =>
    plural(
      count,
      (n) => l10n.t('{0} command', n),
      (n) => l10n.t('{0} commands', n),
    ),
  decisions: (count: number) =>
    plural(
      count,
      (n) => l10n.t('{0} request answered by a rule', n),
      (n) => l10n.t('{0} requests answered by rules', n),
    ),
  more: (count: number) =>
    plural(
      count,
      (n) => l10n.t('{0} more', n),
      (n) => l10n.t('{0} more', n),
    ),
  turns: (count: number) =>
    plural(
      count,
      (n) => l10n.t('{0} turn', n),
      (n) => l10n.t('{0} turns', n),
    ),
  tokens: (count: number) => l10n.t('{0} tokens', formatCount(count)),
  cost: (amount: number, currency: string) => l10n.t('Cost: {0}', formatCost(amount, currency)),
  allowedByRule: (rule: string) => l10n.t('Allowed by rule “{0}”', rule),
  rejectedByRule: (rule: string) => l10n.t('Rejected by rule “{0}”', rule),
  exitCode: (code: number) => l10n.t('Exit code {0}', code),
  signal: (signal: string) => l10n.t('Terminated by {0}', signal),
  states: { running: l10n.t('Running'), done: l10n.t('Completed'), failed: l10n.t('Failed') },
} as const;

/** A time of today, or one with its day. */
function clock(at: number): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  const day = isToday ? {} : ({ month: 'short', day: 'numeric' } as const);
  return new Intl.DateTimeFormat(language, { ...day, hour: 'numeric', minute: '2-digit' }).format(at);
}
