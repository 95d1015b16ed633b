// Checks Git, which is needed to record changes of agents.
import * as l10n from '@vscode/l10n';
import { type Check, check } from './check';
import { notTrusted } from './trust';

export interface GitCheckOptions {
  readonly isTrusted: boolean;
  readonly isWanted: boolean;
  /** Returns the output of `git --version`. @throws if Git is missing */
  readonly version: (signal: AbortSignal) => Promise<string>;
}

export function gitCheck({ isTrusted, isWanted, version }: GitCheckOptions): Check {
  return check('git', l10n.t('Git'), 20_000, async (signal) => {
    if (!isWanted) return { outcome: 'ok', found: l10n.t('Recording of changes is off, so Git is not needed.') };
    if (!isTrusted) return notTrusted();
    try {
      return { outcome: 'ok', found: l10n.t('Git was found.'), facts: [[l10n.t('Version'), await version(signal)]] };
    } catch {
      signal.throwIfAborted();
      return {
        outcome: 'warning',
        found: l10n.t("Git wasn't found, so changes of agents can't be listed, undone or restored."),
        advice: l10n.t('Install Git, then reload the window.'),
        action: 'getGit',
      };
    }
  });
}
