// Shows, keeps and undoes changes of agents, for the panel, editors and source control.

import { basename } from 'node:path';
import { l10n } from 'vscode';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { ReviewProblem, ReviewTarget } from '../../changes/review/reviewFile';
import { pathOf } from '../../client/changes/changedPaths';
import { statesOf } from '../../client/changes/recordedTurn';
import type { Conversation } from '../../client/conversation/conversation';
import type { ChangesAction, ChangesScope } from '../../panel/contract';
import { tabTitleOf } from '../sessions/sessionLabels';
import { confirm, showStatus, showWarning } from '../ui/messages';
import type { ComparedFile } from '../ui/places';
import { comparedChanges, comparedReview, openComparison, openComparisons, openReview } from './comparisons';

const MAX_NAMED = 5;

export async function actOnChanges(conversation: Conversation, { kind, scope, file }: ChangesAction): Promise<void> {
  if (kind === 'open') await openChanges(conversation, scope, file);
  else if (kind === 'redo') await redoChanges(conversation, scope, file);
  else if (kind === 'keep') await keepChanges(conversation, await targetOf(conversation, scope, file));
  else await undoChanges(conversation, await targetOf(conversation, scope, file));
}

/** @param path only this file, absolute @throws ParleyError `state-gone`, `no-changes` */
export async function openChanges(conversation: Conversation, scope: ChangesScope, path?: string): Promise<void> {
  const all = await compared(conversation, scope, path);
  const [first] = all;
  if (!first) throw new ParleyError('no-changes', localizable('There are no changes to show.'));
  const title = tabTitleOf(conversation);
  if (path !== undefined) await openComparison(first);
  else if (scope === 'review') await openReview(conversation.key, l10n.t('Changes: {0}', title), all);
  else {
    const number = conversation.model.turn(scope.turnId)?.number ?? '';
    await openComparisons(l10n.t('Changes of Turn {0}: {1}', number, title), all);
  }
}

async function compared(
  conversation: Conversation,
  scope: ChangesScope,
  path: string | undefined,
): Promise<readonly ComparedFile[]> {
  const { changes, key } = conversation;
  if (scope === 'review') {
    const { files } = await changes.loadReview();
    return files.filter((file) => path === undefined || pathOf(file) === path).map((file) => comparedReview(key, file));
  }
  const list = await changes.changesOf(scope.turnId);
  const selected = list.filter((change) => path === undefined || pathOf(change) === path);
  return comparedChanges(key, selected, await changes.states());
}

export async function targetOf(conversation: Conversation, scope: ChangesScope, path?: string): Promise<ReviewTarget> {
  const { changes, model } = conversation;
  const noChanges = new ParleyError('no-changes', localizable('This file has no changes of the agent.'));
  if (scope === 'review') {
    if (path === undefined) return { kind: 'all' };
    const file = (await changes.loadReview()).files.find((one) => pathOf(one) === path);
    if (!file) throw noChanges;
    return { kind: 'file', id: file.id };
  }
  // The turn may have just ended. The user has not seen changes that join the review later.
  await changes.settled();
  const recorded = model.turn(scope.turnId)?.changes;
  const { before, after } = recorded ? statesOf(recorded) : {};
  if (!before || !after) throw new ParleyError('turn-runs', localizable('Wait until the agent is done.'));
  const { turnId } = scope;
  if (path === undefined) return { kind: 'turn', turnId, before, after, unnamed: await changes.unnamedOf(turnId) };
  const file = (await changes.changesOf(turnId)).find((one) => pathOf(one) === path);
  if (!file) throw noChanges;
  return { kind: 'turn', turnId, before, after, file: { root: file.root, path: file.path } };
}

export async function keepChanges({ changes }: Conversation, target: ReviewTarget): Promise<void> {
  const review = await changes.loadReview();
  const { failed } = await changes.work.run('keep', () => review.keep(target));
  if (failed.length > 0) void tellProblems(l10n.t("Some changes weren't kept."), failed);
}

/** @returns whether all were undone: changes of the user are not */
export async function undoChanges(conversation: Conversation, target: ReviewTarget): Promise<boolean> {
  const { changes } = conversation;
  const review = await changes.loadReview();
  const { undone, conflicts, failed } = await changes.work.run('undo', () => review.undo(target));
  if (undone.length > 0) {
    showStatus(
      undone.length === 1
        ? l10n.t('Undid changes in {0}.', basename(undone[0]?.path ?? ''))
        : l10n.t('Undid changes in {0} files.', undone.length),
    );
  }
  const unnamed = conflicts.filter(({ why }) => why === 'unnamed');
  if (unnamed.length > 0) void askUnnamed(conversation, target, unnamed).catch((error) => showStatus(messageOf(error)));
  const problems = [...conflicts, ...failed].filter(({ why }) => why !== 'unnamed');
  if (problems.length === 0) return unnamed.length === 0;
  const open = l10n.t('Open Diff');
  const waits = problems.find(({ root, path }) =>
    review.files.some((file) => file.root === root && file.path === path),
  );
  const notification = tellProblems(l10n.t("Some changes weren't undone."), problems, waits ? [open] : []).then(
    (answer) => (answer === open && waits ? openChanges(conversation, 'review', pathOf(waits)) : undefined),
  );
  notification.catch((error: unknown) => showStatus(messageOf(error)));
  return false;
}

/** @param path only the last undo of this file, absolute */
export async function redoChanges({ changes }: Conversation, scope: ChangesScope, path?: string): Promise<void> {
  const review = await changes.loadReview();
  const { undone, conflicts, failed } = await changes.work.run('redo', () => review.redo(scope, path));
  const problems = [...conflicts, ...failed];
  if (undone.length + problems.length === 0)
    throw new ParleyError('no-changes', localizable('There is no undo to redo.'));
  if (undone.length === 1) showStatus(l10n.t('Redid changes in {0}.', basename(undone[0]?.path ?? '')));
  if (undone.length > 1) showStatus(l10n.t('Redid changes in {0} files.', undone.length));
  if (problems.length > 0) void tellProblems(l10n.t("Some changes weren't redone."), problems);
}

async function askUnnamed(
  conversation: Conversation,
  target: ReviewTarget,
  unnamed: readonly ReviewProblem[],
): Promise<void> {
  const names = unnamed.slice(0, MAX_NAMED).map(({ path }) => basename(path));
  if (unnamed.length > names.length) names.push(l10n.t('and {0} more', unnamed.length - names.length));
  const explanation = l10n.t(
    "They changed while the agent worked, but it didn't name them. You or another program may have changed them.",
  );
  const detail = `${names.join('\n')}\n\n${explanation}`;
  if (!(await confirm(l10n.t('Undo these files too?'), detail, l10n.t('Undo These Too')))) return;
  const review = await conversation.changes.loadReview();
  for (const { root, path } of unnamed) {
    const file = review.files.find((one) => one.root === root && one.path === path);
    if (target.kind === 'turn') await undoChanges(conversation, { ...target, file: { root, path } });
    else if (file) await undoChanges(conversation, { kind: 'file', id: file.id });
  }
}

export function tellProblems(
  what: string,
  problems: readonly ReviewProblem[],
  buttons: readonly string[] = [],
  reason: (why: ReviewProblem['why']) => string | undefined = () => undefined,
): Promise<unknown> {
  const named = problems
    .slice(0, MAX_NAMED)
    .map(({ path, why }) => `${basename(path)}: ${reason(why) ?? reasonOf(why)}`);
  const rest = problems.length - named.length;
  if (rest > 0) named.push(l10n.t('and {0} more', rest));
  return showWarning(`${what} ${named.join('; ')}`, ...buttons);
}

function reasonOf(why: ReviewProblem['why']): string {
  return {
    edited: l10n.t('you edited these lines'),
    yours: l10n.t('you saved the file while the agent worked'),
    unnamed: l10n.t("the agent didn't name it"),
    'was-there': l10n.t('it may have been there before'),
    occupied: l10n.t('another file has its old name'),
    entangled: l10n.t('another change of the same lines comes first'),
    'not-kept': l10n.t('the version is no longer kept'),
    outside: l10n.t('it is outside the folder'),
    refused: l10n.t("it couldn't be written, or changed meanwhile"),
    gone: l10n.t('it is no longer pending review'),
  }[why];
}
