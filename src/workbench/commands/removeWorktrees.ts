// Removes worktrees of sessions. Says first what would be lost, and keeps worktrees in use.
import { lstat } from 'node:fs/promises';
import { basename } from 'node:path';
import { l10n, workspace } from 'vscode';
import { messageOf, ParleyError } from '../../base/errors';
import { oneLine } from '../../base/text';
import type { Loss } from '../../changes/worktree/losses';
import type { Removal } from '../../changes/worktree/worktree';
import type { Worktree } from '../../changes/worktree/worktreeEntry';
import type { Conversation } from '../../client/conversation/conversation';
import { isBelow } from '../../client/requests/roots';
import type { SessionRecord } from '../../store/sessions/records';
import { type RemovalPreview, type SessionWorktree, SessionWorktrees } from '../changes/sessionWorktrees';
import { isSettingUp } from '../changes/worktreeSetup';
import { ChatHome } from '../chat/chatHome';
import type { Workbench } from '../core/workbench';
import { Overview } from '../overview/overview';
import { Archive } from '../sessions/archive';
import { Conversations } from '../sessions/conversations';
import { agoLabel, titleOf } from '../sessions/sessionLabels';
import { isTooLong } from '../ui/inertText';
import { type PickItem, pickSome } from '../ui/input';
import { confirm, showInfo, showProgress, showStatus, showWarning } from '../ui/messages';
import { onlyOf } from './commandSession';
import { requireIdle, requireTrust, type WorktreeArgument } from './worktreeActions';

/** Without a session, the user selects several. @returns whether any was removed */
export async function removeWorktrees(workbench: Workbench, argument?: WorktreeArgument): Promise<boolean> {
  requireTrust();
  if (argument?.session === undefined) return cleanUp(workbench);
  const worktrees = workbench.get(SessionWorktrees);
  const worktree = await worktrees.of(workbench.get(Conversations).get(argument.session));
  const sessions = worktrees.sessionsIn(worktree);
  requireIdle(sessions);
  const isRemoved = await remove(workbench, worktree, {
    agreed: argument.ask === false ? 'all' : [],
    ending: sessions,
  });
  if (isRemoved) workbench.get(ChatHome).show(workbench.get(Conversations).active());
  return isRemoved;
}

/** Offers to remove the worktree of a deleted session, unless another session works there. */
export async function offerRemoval(workbench: Workbench, cwd: string): Promise<void> {
  const worktrees = workbench.get(SessionWorktrees);
  const worktree = workspace.isTrusted ? await worktrees.find(cwd) : undefined;
  if (!worktree || useOf(workbench, worktree) !== undefined) return;
  if (worktrees.sessionsIn(worktree).length > 0 || sessionsOf(workbench, worktree).length > 0) return;
  const yes = l10n.t('Remove Worktree…');
  if ((await showInfo(l10n.t('The worktree of {0} is still there.', worktree.branch), yes)) !== yes) return;
  await remove(workbench, worktree, { agreed: [] });
}

interface Removable extends RemovalPreview {
  readonly worktree: SessionWorktree;
  readonly item: PickItem;
}

async function cleanUp(workbench: Workbench): Promise<boolean> {
  const all = await workbench.get(SessionWorktrees).list();
  if (all.length === 0) throw new ParleyError('no-worktree', l10n.t('No session works in a worktree.'));
  const shown = onlyOf(workbench.get(ChatHome).current);
  const idle = shown && !shown.isBusy ? [shown] : [];
  const free = all.filter((one) => useOf(workbench, one, idle) === undefined);
  const inUse = all.length - free.length;
  if (free.length === 0) throw new ParleyError('worktree-in-use', l10n.t('All worktrees are in use.'));
  const found = await showProgress(l10n.t('Comparing files…'), async (signal, report) => {
    const rows: Removable[] = [];
    for (const [count, worktree] of free.entries()) {
      report(count, free.length);
      rows.push(await removable(workbench, worktree, shown, signal));
    }
    return rows;
  });
  const placeholder =
    inUse === 0
      ? l10n.t('Select the worktrees to remove')
      : l10n.t('Select the worktrees to remove. Not listed because they are in use: {0}', inUse);
  const picked = await pickSome(
    found.map(({ item }) => item),
    placeholder,
    { title: l10n.t('Remove Worktrees') },
  );
  const chosen = found.filter(({ item }) => picked?.includes(item.id));
  if (chosen.length === 0 || !(await confirmAll(chosen))) return false;
  const isShown = !isTooLong(lossLines(chosen));
  const keptBranches: string[] = [];
  const problems: string[] = [];
  let removed = 0;
  for (const { worktree, losses } of chosen) {
    try {
      if (await remove(workbench, worktree, { agreed: isShown ? losses : [], ending: idle, keptBranches })) removed++;
    } catch (error) {
      problems.push(`${worktree.branch}: ${messageOf(error)}`);
    }
  }
  if (problems.length > 0) void showWarning(l10n.t("Some worktrees weren't removed. {0}", problems.join(' · ')));
  if (removed > 0) {
    const done = removed === 1 ? l10n.t('Removed 1 worktree.') : l10n.t('Removed {0} worktrees.', removed);
    showStatus(
      keptBranches.length === 0 ? done : `${done} ${l10n.t('Branches that stay: {0}', keptBranches.join(', '))}`,
    );
    if (shown && workbench.get(Conversations).find(shown.key) === undefined)
      workbench.get(ChatHome).show(workbench.get(Conversations).active());
  }
  return removed > 0;
}

async function removable(
  workbench: Workbench,
  worktree: SessionWorktree,
  shown: Conversation | undefined,
  signal: AbortSignal,
): Promise<Removable> {
  const { branch, cwd, folder, place } = worktree;
  const preview = await workbench.get(SessionWorktrees).previewRemoval(worktree, signal);
  const [session] = sessionsOf(workbench, worktree);
  const openSession = shown?.cwd === cwd ? shown : undefined;
  const title = openSession
    ? titleOf(openSession)
    : (session?.title ?? session?.preview ?? l10n.t('without a session'));
  const at =
    session?.updatedAt ??
    (await lstat(place).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    ));
  const lost = preview.losses.map((loss) => lossLine(loss, MAX_LISTED)).join(' · ');
  const item = {
    id: cwd,
    label: branch,
    picked: openSession !== undefined,
    description: [oneLine(title, MAX_NAME), basename(folder), at === undefined ? '' : agoLabel(at, Date.now())]
      .filter(Boolean)
      .join(' · '),
    detail: [lost || l10n.t('Nothing is lost'), ...(preview.keepsBranch ? [l10n.t('The branch stays')] : [])].join(
      ' · ',
    ),
  };
  return { ...preview, worktree, item };
}

function sessionsOf(workbench: Workbench, { place }: Worktree): readonly SessionRecord[] {
  const archive = workbench.get(Archive);
  return [...archive.all()].filter(({ key, cwd }) => isBelow(place, cwd) && !archive.marks.isDeleted(key));
}

/** Returns what uses a worktree, in words. @param ending sessions that end with it, unless busy */
function useOf(workbench: Workbench, worktree: Worktree, ending: readonly Conversation[] = []): string | undefined {
  const { place } = worktree;
  if ((workspace.workspaceFolders ?? []).some(({ uri }) => isBelow(place, uri.fsPath)))
    return l10n.t('this window has it open');
  if (isSettingUp(worktree)) return l10n.t('its setup still runs');
  const isLive = (one: Conversation): boolean => one.isBusy || (!ending.includes(one) && one.link?.isAlive === true);
  if (
    workbench
      .get(Conversations)
      .list()
      .some((one) => isBelow(place, one.cwd) && isLive(one))
  )
    return l10n.t('an agent runs there');
  const archive = workbench.get(Archive);
  const keys = sessionsOf(workbench, worktree).map(({ key }) => key);
  if (keys.some((key) => archive.isHeld(key))) return l10n.t('another window has its session open');
  const isInBackground = workbench.get(Overview).running.background.some(({ about }) => keys.includes(about.session));
  return isInBackground ? l10n.t('its agent runs in the background') : undefined;
}

interface RemoveOptions {
  readonly agreed: readonly Loss[] | 'all';
  readonly ending?: readonly Conversation[];
  /** Receives branches that were not deleted; absent: notify the user. */
  readonly keptBranches?: string[];
}

/** @returns whether the worktree was removed @throws ParleyError `worktree-in-use` */
async function remove(
  workbench: Workbench,
  worktree: SessionWorktree,
  { agreed, ending, keptBranches }: RemoveOptions,
): Promise<boolean> {
  const { branch } = worktree;
  for (let allowed = agreed; ; ) {
    // The question may have been open for long.
    const use = useOf(workbench, worktree, ending);
    if (use !== undefined) throw new ParleyError('worktree-in-use', l10n.t('The worktree stays: {0}.', use));
    const removal: Removal = await showProgress(l10n.t('Comparing files…'), (signal) =>
      workbench.get(SessionWorktrees).remove(worktree, allowed, signal),
    );
    if ('losses' in removal) {
      if (!(await confirmRemoval(branch, removal.losses))) return false;
      allowed = removal.losses;
      continue;
    }
    if (keptBranches) keptBranches.push(...(removal.hasBranch ? [branch] : []));
    else
      showStatus(
        removal.hasBranch
          ? l10n.t('Removed the worktree. The branch {0} has its commits.', branch)
          : l10n.t('Removed the worktree and its branch.'),
      );
    return true;
  }
}

function confirmRemoval(branch: string, losses: readonly Loss[]): Promise<boolean> {
  const detail = [l10n.t('This is lost:'), ...losses.map((loss) => lossLine(loss))].join('\n');
  return confirm(l10n.t('Remove the worktree of {0}?', branch), detail, l10n.t('Remove Worktree'));
}

function confirmAll(chosen: readonly Removable[]): Promise<boolean> {
  const [only] = chosen;
  if (only && chosen.length === 1 && only.losses.length > 0) return confirmRemoval(only.worktree.branch, only.losses);
  const question = chosen.length === 1 ? l10n.t('Remove 1 worktree?') : l10n.t('Remove {0} worktrees?', chosen.length);
  return confirm(question, lossLines(chosen), l10n.t('Remove'));
}

function lossLines(chosen: readonly Removable[]): string {
  const parts = chosen.map(({ worktree: { branch }, losses }) => {
    if (losses.length === 0) return l10n.t('{0}: nothing is lost', branch);
    return [l10n.t('{0}: this is lost:', branch), ...losses.map((loss) => `– ${lossLine(loss, MAX_LISTED)}`)].join(
      '\n',
    );
  });
  return parts.join('\n');
}

const MAX_NAMES = 8;
const MAX_LISTED = 3;
const MAX_NAME = 100;

function lossLine({ kind, names }: Loss, max = MAX_NAMES): string {
  const shown = names.slice(0, max).map((name) => oneLine(name, MAX_NAME));
  const list = shown.join(', ');
  const more = names.length - shown.length;
  const all = more > 0 ? l10n.t('{0} and {1} more', list, more) : list;
  return {
    changes: l10n.t('Changes that are not committed: {0}', all),
    ignored: l10n.t('Files that Git ignores: {0}', all),
    repositories: l10n.t('Repositories and submodules inside: {0}', all),
    commits: l10n.t('Commits that are on no branch: {0}', all),
    unborn: l10n.t('A branch that has no commit yet'),
    operation: l10n.t('A merge, rebase or similar that is not finished: {0}', all),
    locked: l10n.t('The worktree is locked. {0}', all),
    unknown: l10n.t("Everything in the worktree: Git can't read it. {0}", all),
  }[kind];
}
