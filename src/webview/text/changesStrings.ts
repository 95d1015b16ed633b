// Every text about changed files, whose code is loaded later than the rest of the panel.
import './language';
import * as l10n from '@vscode/l10n';
import { formatNumber, plural } from './format';

export const strings = {
  changedFiles: l10n.t('Changed files'),
  reviewChanges: l10n.t('Review Changes'),
  filesChanged: (count: number) =>
    plural(
      count,
      (n) => l10n.t('{0} file changed', n),
      (n) => l10n.t('{0} files changed', n),
    ),
  reviewFiles: (count: number) =>
    plural(
      count,
      (n) => l10n.t('Review {0} file', n),
      (n) => l10n.t('Review {0} files', n),
    ),
  linesAdded: (count: number) =>
    plural(
      count,
      (n) => l10n.t('{0} line added', n),
      (n) => l10n.t('{0} lines added', n),
    ),
  linesRemoved: (count: number) =>
    plural(
      count,
      (n) => l10n.t('{0} line removed', n),
      (n) => l10n.t('{0} lines removed', n),
    ),
  keep: l10n.t('Keep'),
  undo: l10n.t('Undo'),
  keepAll: l10n.t('Keep All'),
  undoAll: l10n.t('Undo All'),
  undoTurn: l10n.t('Undo changes of this turn'),
  copyMessage: l10n.t('Copy message'),
  restoreFiles: l10n.t('Restore files to before this message'),
  editAndResend: l10n.t('Edit and send again'),
  forkFromMessage: l10n.t('Fork from here'),
  reviewWith: l10n.t('Review with another agent…'),
  retryWith: l10n.t('Retry with another agent…'),
  pressAgain: l10n.t('The button has just appeared or moved. Select it again.'),
  showToolCall: l10n.t('Go to tool call'),
  showInChanges: l10n.t('Show in changed files'),
  changeKind: {
    added: l10n.t('Added'),
    modified: l10n.t('Modified'),
    deleted: l10n.t('Deleted'),
    renamed: l10n.t('Renamed'),
  },
  changeState: {
    kept: l10n.t('Kept'),
    undone: l10n.t('Undone'),
    conflict: l10n.t('Conflict'),
  },
  conflictHint: l10n.t('You edited the same lines. Review the file to undo the change by hand.'),
  renamedFrom: (path: string) => l10n.t('from {0}', path),
  alsoYours: l10n.t('You edited it too'),
  apart: {
    unnamed: l10n.t("The agent didn't name it"),
    'was-there': l10n.t('It may have been there before'),
  },
  binaryFile: l10n.t('Binary'),
  changesWork: {
    keep: l10n.t('Keeping changes…'),
    undo: l10n.t('Undoing changes…'),
    restore: l10n.t('Restoring files…'),
  },
  cancel: l10n.t('Cancel'),
  progress: (done: number, all: number) => l10n.t('{0} of {1}', formatNumber(done), formatNumber(all)),
} as const;
