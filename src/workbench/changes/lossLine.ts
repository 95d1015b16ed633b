// What would be lost with a worktree, in words.
import { l10n } from 'vscode';
import { oneLine } from '../../base/text';
import type { Loss } from '../../changes/worktree/losses';

const MAX_NAMES = 8;
const MAX_NAME = 100;

export function lossLine({ kind, names }: Loss): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => oneLine(name, MAX_NAME));
  const list = shown.join(', ');
  const more = names.length - shown.length;
  const all = more > 0 ? l10n.t('{0} and {1} more', list, more) : list;
  switch (kind) {
    case 'changes':
      return l10n.t('Changes that are not committed: {0}', all);
    case 'ignored':
      return l10n.t('Files that Git ignores: {0}', all);
    case 'repositories':
      return l10n.t('Repositories and submodules inside: {0}', all);
    case 'commits':
      return l10n.t('Commits that are on no branch: {0}', all);
    case 'unborn':
      return l10n.t('A branch that has no commit yet');
    case 'operation':
      return l10n.t('A merge, rebase or similar that is not finished: {0}', all);
    case 'locked':
      return l10n.t('The worktree is locked. {0}', all);
    case 'unknown':
      return l10n.t("Everything in the worktree: Git can't read it. {0}", all);
  }
}
