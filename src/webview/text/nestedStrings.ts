// Every text about nested calls, whose code is loaded later than the rest of the panel.
import './language';
import * as l10n from '@vscode/l10n';
import { formatSeconds, plural } from './format';

export const strings = {
  calls: (count: number) =>
    plural(
      count,
      (n) => l10n.t('{0} call', n),
      (n) => l10n.t('{0} calls', n),
    ),
  running: (ms: number) => l10n.t('running {0}', formatSeconds(ms)),
  waitsForYou: l10n.t('waits for you'),
  messages: l10n.t('Messages'),
  earlier: (count: number) =>
    plural(
      count,
      (n) => l10n.t('Show {0} earlier entry', n),
      (n) => l10n.t('Show {0} earlier entries', n),
    ),
  later: (count: number) =>
    plural(
      count,
      (n) => l10n.t('Show {0} later entry', n),
      (n) => l10n.t('Show {0} later entries', n),
    ),
  loading: l10n.t('Loading…'),
};
