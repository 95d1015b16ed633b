// Restores files after showing what will change, and reports the result in the transcript.

import { basename, join } from 'node:path';
import { l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { FileChange } from '../../changes/model/fileChange';
import type { RestoreResult } from '../../changes/restore/restore';
import { canInclude, type RestorePlan } from '../../changes/restore/restorePlan';
import type { Conversation } from '../../client/conversation/conversation';
import { ownText, UNDO_RESTORE } from '../../session/events/ownText';
import { pick } from '../ui/input';
import { showProgress, showWarning } from '../ui/messages';
import { closeComparisons, comparedChange, openComparison, openComparisons } from './comparisons';
import type { SessionRestore } from './sessionRestore';

const SHOWN_NAMES = 4;
const MAX_LEFT = 20;

export class RestoreActions {
  readonly #restore: SessionRestore;

  constructor(restore: SessionRestore) {
    this.#restore = restore;
  }

  /**
   * Restores the files to before a turn, after showing what will change.
   * @param isAsked false: doesn't ask, and restores only what the agent changed
   * @returns false if cancelled
   * @throws ParleyError `agent-works`, `state-gone`, `no-checkpoint`
   */
  async restoreCheckpoint(conversation: Conversation, turnId: string, isAsked = true): Promise<boolean> {
    requireIdle(conversation);
    if (isAsked && (await this.offerPending(conversation))) return false;
    const plan = await showProgress(l10n.t('Comparing files…'), (signal) =>
      this.#restore.plan(conversation, turnId, signal),
    );
    const include = await this.#choose(conversation, plan, l10n.t('Restore files to before this message'), isAsked);
    if (!include) return false;
    const result = await this.#restore.run(conversation, plan, include);
    reportResult(conversation, result, 'files-restored', plan.skipped);
    if (result.isCancelled) void this.offerPending(conversation);
    return !result.isCancelled;
  }

  /** As {@link restoreCheckpoint}; returns true if no files changed. */
  async restoreIfChanged(conversation: Conversation, turnId: string, isAsked = true): Promise<boolean> {
    try {
      return await this.restoreCheckpoint(conversation, turnId, isAsked);
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'no-checkpoint') return true;
      throw error;
    }
  }

  async undoRestore(conversation: Conversation, isAsked = true): Promise<boolean> {
    requireIdle(conversation);
    if (isAsked && (await this.offerPending(conversation))) return false;
    const plan = await showProgress(l10n.t('Comparing files…'), (signal) =>
      this.#restore.planUndo(conversation, signal),
    );
    // Only needed if the user edited files since.
    const hasEdits = isAsked && plan.skipped.length > 0;
    const include = await this.#choose(conversation, plan, l10n.t('Undo the restore of files'), hasEdits);
    if (!include) return false;
    const result = await this.#restore.undo(conversation, plan, include);
    reportResult(conversation, result, 'restore-undone');
    if (result.isCancelled) void this.offerPending(conversation);
    return !result.isCancelled;
  }

  /** Offers to finish or revert an interrupted restore. @returns false if there is none */
  async offerPending(conversation: Conversation): Promise<boolean> {
    const pending = await this.#restore.pending(conversation);
    if (!pending) return false;
    const { isUndo, files } = pending;
    const [finish, takeBack] = [isUndo ? l10n.t('Finish Undo') : l10n.t('Finish Restore'), l10n.t('Take Back')];
    const text = isUndo
      ? l10n.t("Undoing the restore of {0} files didn't finish.", files)
      : l10n.t("Restoring {0} files didn't finish.", files);
    const answer = await showWarning(text, finish, takeBack);
    if (answer === undefined) return true;
    const isFinished = answer === finish;
    const result = await (isFinished ? pending.finish() : pending.takeBack());
    reportResult(conversation, result, isFinished === isUndo ? 'restore-undone' : 'files-restored');
    return true;
  }

  async #choose(
    conversation: Conversation,
    plan: RestorePlan,
    title: string,
    isAsked: boolean,
  ): Promise<ReadonlySet<string> | undefined> {
    const edited = plan.skipped.filter(({ why }) => canInclude(why));
    if (plan.changes.length + edited.length === 0 && plan.skipped.length > 0)
      throw new ParleyError(
        'no-checkpoint',
        localizable(
          'Nothing was restored: {0} may have been there before, or cannot be restored.',
          namesOf(plan.skipped.map(({ change }) => change)),
        ),
      );
    if (plan.changes.length + edited.length === 0)
      throw new ParleyError('no-checkpoint', localizable('The files are already as they were.'));
    if (!isAsked) return new Set();
    const all = plan.changes.map((change) => comparedChange(conversation.key, change, false));
    const [first] = all;
    if (all.length === 1 && first) await openComparison(first, title);
    else await openComparisons(title, all);
    const answer = await ask(plan, edited.length);
    await closeComparisons(title);
    if (answer === undefined) return undefined;
    return new Set(answer === 'all' ? edited.map(({ change }) => join(change.root, change.path)) : []);
  }
}

async function ask(plan: RestorePlan, edited: number): Promise<string | undefined> {
  const { changes, skipped, now } = plan;
  const unrestored = skipped.length;
  const unnamed = skipped.filter(({ why }) => why === 'unnamed').length;
  const existedBefore = skipped.filter(({ why }) => why === 'was-there').length;
  const notes = [
    ...(unrestored > unnamed + existedBefore
      ? [l10n.t('{0} files that you edited since are left alone', unrestored - unnamed - existedBefore)]
      : []),
    ...(unnamed > 0 ? [l10n.t("{0} files that the agent didn't name are left alone", unnamed)] : []),
    ...(existedBefore > 0 ? [l10n.t('{0} files that may have been there before are left alone', existedBefore)] : []),
    ...(now.gaps.length > 0 ? [l10n.t('Some repositories below the folder are not restored')] : []),
  ];
  const items = [
    ...(changes.length > 0
      ? [
          {
            id: 'agent',
            label: changes.length === 1 ? l10n.t('Restore 1 File') : l10n.t('Restore {0} Files', changes.length),
            description: namesOf(changes),
            detail: notes.length === 0 ? undefined : notes.join('; '),
          },
        ]
      : []),
    ...(edited > 0
      ? [
          {
            id: 'all',
            label:
              unnamed > 0
                ? l10n.t('Restore {0} Files, Including Those That May Be Yours', changes.length + edited)
                : l10n.t('Restore {0} Files, Including Those That You Edited', changes.length + edited),
            detail: l10n.t('You can undo the restore'),
          },
        ]
      : []),
  ];
  // Without a title, the list covers less of the comparison.
  return pick(items, l10n.t('The comparison shows what will change. Commands that ran are not undone.'), {
    ignoreFocusOut: true,
  });
}

function namesOf(changes: readonly FileChange[]): string {
  const names = changes.slice(0, SHOWN_NAMES).map(({ path }) => basename(path));
  return changes.length > SHOWN_NAMES ? `${names.join(', ')}…` : names.join(', ');
}

function requireIdle({ isBusy, agent }: Conversation): void {
  if (!isBusy) return;
  throw new ParleyError('agent-works', localizable('{0} is still working.', agent.name), {
    hint: localizable("Wait until it's done, or stop it."),
  });
}

function reportResult(
  conversation: Conversation,
  { done, failed, isCancelled }: RestoreResult,
  code: 'files-restored' | 'restore-undone',
  skipped: RestorePlan['skipped'] = [],
): void {
  const isIncomplete = failed.length > 0 || isCancelled;
  const isDone = new Set(done.map(({ root, path }) => join(root, path)));
  const unrestored = [...failed, ...skipped.filter(({ change }) => !isDone.has(join(change.root, change.path)))];
  const paths = unrestored.map(({ change }) => change.path).slice(0, MAX_LEFT);
  const event = {
    type: 'notice',
    own: true,
    severity: isIncomplete ? 'warning' : 'info',
    title: '',
    said: code === 'files-restored' ? ownText(code, done.length, ...paths) : ownText(code, done.length),
    description: paths.join('\n'),
    action: code === 'files-restored' || isIncomplete ? { id: UNDO_RESTORE } : undefined,
  } as const;
  conversation.note([{ at: Date.now(), event }]);
}
