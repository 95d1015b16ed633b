// Commands for sessions in worktrees: new, apply, commit, remove, compare.
import { basename, join } from 'node:path';
import { l10n, workspace } from 'vscode';
import { messageOf, ParleyError } from '../../base/errors';
import type { FileChange, FolderStates } from '../../changes/model/fileChange';
import type { ReviewProblem } from '../../changes/review/reviewFile';
import type { ApplyResult } from '../../changes/worktree/applyChanges';
import type { Worktree } from '../../changes/worktree/worktreeEntry';
import { withTrailer } from '../../client/changes/commitMessage';
import type { Conversation } from '../../client/conversation/conversation';
import { CommitDrafts } from '../changes/commitDrafts';
import { comparedChanges, openComparisons } from '../changes/comparisons';
import { tellProblems } from '../changes/reviewActions';
import { type SessionWorktree, SessionWorktrees } from '../changes/sessionWorktrees';
import { setUp, setupCommand } from '../changes/worktreeSetup';
import { ChatHome } from '../chat/chatHome';
import { AgentCatalog } from '../config/agentCatalog';
import { FolderConsent } from '../config/folderConsent';
import type { Preset } from '../config/presets';
import { commitTrailer } from '../config/settings';
import type { Workbench } from '../core/workbench';
import { openDocument } from '../editor/openDocuments';
import { Conversations } from '../sessions/conversations';
import { tabTitleOf, titleOf } from '../sessions/sessionLabels';
import { askLine, askLineWithHelp, type PickItem, pick, pickSome } from '../ui/input';
import { showProgress, showStatus } from '../ui/messages';
import { onlyOf, sessionOf } from './commandSession';
import { folderOfNew } from './newSessions';

export interface WorktreeArgument {
  readonly session?: string;
  /** false: for programs, doesn't ask. */
  readonly ask?: boolean;
}

export interface NewWorktreeSession {
  readonly agent?: string | undefined;
  readonly preset?: Preset | undefined;
  readonly cwd?: string | undefined;
  /** Its name; true: derived from the agent. */
  readonly worktree?: string | true;
  readonly uncommitted?: boolean;
  readonly title?: string;
}

/** Without agent and preset, uses the preset of its folder. */
export async function openInWorktree(workbench: Workbench, wanted: NewWorktreeSession): Promise<Conversation> {
  const { agent, cwd = '' } = wanted;
  const preset = wanted.preset ?? (agent === undefined ? workbench.get(AgentCatalog).presetOf(cwd) : undefined);
  const session = { ...wanted, preset, agent: preset?.agent ?? agent };
  return beginInWorktree(workbench, await makeWorktree(workbench, session), session);
}

export async function makeWorktree(
  workbench: Workbench,
  { agent, cwd, worktree, uncommitted = false }: NewWorktreeSession,
): Promise<Worktree> {
  const worktrees = workbench.get(SessionWorktrees);
  requireTrust();
  const folder = cwd ?? workbench.get(Conversations).folders[0] ?? '';
  const name = typeof worktree === 'string' ? worktree : (agent ?? workbench.get(AgentCatalog).preferred().id);
  const files = uncommitted ? await worktrees.uncommitted(folder) : [];
  return showProgress(l10n.t('Creating a worktree…'), (signal) => worktrees.make({ folder, name, files }, signal));
}

export async function beginInWorktree(
  workbench: Workbench,
  worktree: Worktree,
  { agent, title, preset }: NewWorktreeSession,
): Promise<Conversation> {
  const command = await setupCommand(workbench.get(FolderConsent), worktree.folder);
  if (command !== undefined) await setUp(command, worktree);
  return showProgress(l10n.t('Creating a worktree…'), (signal) =>
    workbench.get(SessionWorktrees).begin(worktree, { agent, title, preset }, signal),
  );
}

export async function newSessionInWorktree(workbench: Workbench): Promise<string | undefined> {
  requireTrust();
  const cwd = await folderOfNew(workbench);
  if (cwd === undefined) return undefined;
  const files = await workbench.get(SessionWorktrees).uncommitted(cwd);
  const worktree = await askLine({
    title: l10n.t('New Session in a Worktree'),
    prompt: l10n.t('Name of the worktree and its branch'),
    value: workbench.get(AgentCatalog).preferred().id,
  });
  if (!worktree) return undefined;
  const uncommitted = files.length > 0 ? await askUncommitted(files.length) : false;
  if (uncommitted === undefined) return undefined;
  return workbench.get(ChatHome).start(await openInWorktree(workbench, { cwd, worktree, uncommitted }));
}

export async function applyWorktree(
  workbench: Workbench,
  argument?: WorktreeArgument,
): Promise<readonly string[] | undefined> {
  const conversation = await sessionOf(workbench, argument);
  requireTrust();
  requireIdle([conversation]);
  return apply(workbench.get(SessionWorktrees), conversation, argument?.ask !== false);
}

export async function commitWorktree(
  workbench: Workbench,
  argument?: WorktreeArgument & { readonly message?: string },
): Promise<string | undefined> {
  const worktrees = workbench.get(SessionWorktrees);
  const conversation = await sessionOf(workbench, argument);
  requireTrust();
  requireIdle([conversation]);
  const worktree = await worktrees.of(conversation);
  const { branch } = worktree;
  const prompt = l10n.t('Message of the commit on {0}', branch);
  const message =
    argument?.message ??
    (await askLineWithHelp(
      { title: l10n.t('Commit Changes'), prompt, value: titleOf(conversation) },
      {
        icon: 'sparkle',
        tooltip: l10n.t('Draft Commit Message'),
        failed: messageOf,
        run: (signal) => workbench.get(CommitDrafts).draftForWorktree(worktree, signal),
      },
    ));
  if (!message) return undefined;
  const fullMessage = withTrailer(message, commitTrailer(), conversation.agent.name);
  await showProgress(l10n.t('Committing…'), (signal) => worktrees.commit(worktree, fullMessage, signal));
  showStatus(l10n.t('Committed to {0}.', branch));
  return branch;
}

export async function compareSessions(
  workbench: Workbench,
  argument?: { readonly sessions?: readonly string[] },
): Promise<readonly string[] | undefined> {
  const worktrees = workbench.get(SessionWorktrees);
  const conversations = workbench.get(Conversations);
  const chosen = argument?.sessions
    ? await Promise.all(argument.sessions.map((key) => worktrees.of(conversations.get(key))))
    : await pickCompared(worktrees, onlyOf(workbench.get(ChatHome).current));
  const [worktree, other] = chosen;
  if (!worktree) return undefined;
  const files = await showProgress(l10n.t('Comparing files…'), () => worktrees.compare(worktree, other));
  if (files.length === 0) throw new ParleyError('no-changes', l10n.t('Their files are the same.'));
  await openComparisons(`${other?.branch ?? basename(worktree.folder)} ↔ ${worktree.branch}`, files);
  return files.map(({ label }) => label.fsPath);
}

interface AppliedPreview {
  readonly changes: readonly FileChange[];
  readonly states: FolderStates;
  readonly preview: ApplyResult;
}

async function apply(
  worktrees: SessionWorktrees,
  conversation: Conversation,
  isAsked: boolean,
): Promise<readonly string[] | undefined> {
  const { changes, states, preview } = await showProgress(l10n.t('Comparing files…'), async (signal) => {
    const found = await worktrees.changes(conversation, signal);
    return { ...found, preview: await worktrees.preview(conversation, found.changes) };
  });
  const chosen =
    isAsked && preview.applied.length > 0
      ? await pickApplied(worktrees, conversation, { changes, states, preview })
      : changes;
  if (!chosen) return undefined;
  if (chosen.length === 0) throw new ParleyError('no-changes', l10n.t('There are no changes to apply.'));
  const result = await worktrees.apply(conversation, chosen);
  const problems = [...result.conflicts, ...result.failed];
  if (problems.length > 0) void tellProblems(l10n.t("Some changes weren't applied."), problems, [], whyNotApplied);
  else
    showStatus(
      result.applied.length === 1
        ? l10n.t('Applied changes to 1 file.')
        : l10n.t('Applied changes to {0} files.', result.applied.length),
    );
  return result.applied;
}

async function pickApplied(
  worktrees: SessionWorktrees,
  conversation: Conversation,
  { changes, states, preview: { applied, conflicts } }: AppliedPreview,
): Promise<readonly FileChange[] | undefined> {
  const { folder, cwd } = await worktrees.of(conversation);
  await openComparisons(
    l10n.t('Changes to Apply: {0}', tabTitleOf(conversation)),
    await comparedChanges(conversation.key, changes, states),
  );
  const inConflict = new Set(conflicts.map(({ path }) => path));
  const items = applied.map((path) => ({
    id: path,
    label: path,
    picked: true,
    description: inConflict.has(path) ? l10n.t('has conflicts, which are left out') : undefined,
  }));
  const title = l10n.t('Apply Changes of This Session to the Folder');
  const picked = await pickSome(items, l10n.t('Select the files to apply to {0}', folder), { title });
  if (!picked?.length) return undefined;
  requireIdle([conversation]);
  // Files that can't be applied are reported afterwards.
  const wanted = new Set(
    changes.map(({ path }) => path).filter((path) => picked.includes(path) || !applied.includes(path)),
  );
  for (const path of picked) {
    const document = await openDocument(join(cwd, path));
    if (document?.isDirty && !(await document.save()) && document.isDirty)
      throw new ParleyError('file-not-saved', l10n.t("Couldn't save {0}.", path)); // VS Code says why
  }
  const now = await showProgress(l10n.t('Comparing files…'), (signal) => worktrees.changes(conversation, signal));
  return now.changes.filter(({ path }) => wanted.has(path));
}

function whyNotApplied(why: ReviewProblem['why']): string | undefined {
  return why === 'edited' || why === 'occupied' ? l10n.t('the folder has other changes there') : undefined;
}

async function askUncommitted(count: number): Promise<boolean | undefined> {
  const files = count === 1 ? l10n.t('1 file') : l10n.t('{0} files', count);
  const items: PickItem[] = [
    { id: 'with', label: l10n.t('Bring Uncommitted Changes Along'), description: files },
    { id: 'without', label: l10n.t('Start from the Last Commit') },
  ];
  const placeholder = l10n.t('Your folder has uncommitted changes. They stay there in either case.');
  const answer = await pick(items, placeholder, { ignoreFocusOut: true });
  return answer === undefined ? undefined : answer === 'with';
}

async function pickCompared(
  worktrees: SessionWorktrees,
  shown: Conversation | undefined,
): Promise<readonly (SessionWorktree | undefined)[]> {
  const all = await worktrees.list();
  const current = all.find(({ cwd }) => cwd === shown?.cwd);
  const one = current ?? (await pickWorktree(all, l10n.t('Select a session to compare')));
  if (!one) return [];
  const others = all.filter(({ top, cwd }) => top === one.top && cwd !== one.cwd);
  const items = others.map(({ branch, place }) => ({ id: branch, label: branch, description: place }));
  const folder = { id: '', label: basename(one.folder), description: one.folder };
  const answer = await pick([folder, ...items], l10n.t('Compare {0} with', one.branch));
  if (answer === undefined) return [];
  return [one, others.find(({ branch }) => branch === answer)];
}

async function pickWorktree(
  all: readonly SessionWorktree[],
  placeholder: string,
): Promise<SessionWorktree | undefined> {
  if (all.length === 0) throw new ParleyError('no-worktree', l10n.t('No session works in a worktree.'));
  const items = all.map(({ cwd, branch }) => ({ id: cwd, label: branch, description: cwd }));
  const answer = await pick(items, placeholder);
  return all.find(({ cwd }) => cwd === answer);
}

export function requireTrust(): void {
  if (workspace.isTrusted) return;
  throw new ParleyError('untrusted-workspace', l10n.t("Worktrees can't be used in an untrusted workspace."));
}

export function requireIdle(conversations: readonly Conversation[]): void {
  const busy = conversations.find(({ isBusy }) => isBusy);
  if (!busy) return;
  throw new ParleyError('agent-works', l10n.t('{0} is still working.', busy.agent.name), {
    hint: l10n.t("Wait until it's done, or stop it."),
  });
}
