// Creates, compares, applies and removes worktrees of sessions.

import { dirname, join, relative } from 'node:path';
import { l10n, Uri, workspace } from 'vscode';
import * as z from 'zod/mini';
import { Configured } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import type { Git } from '../../changes/git/gitProcess';
import type { FileChange, FolderStates, Snapshot, WorkingFiles } from '../../changes/model/fileChange';
import { type ApplyOptions, type ApplyResult, applyChanges, tryChanges } from '../../changes/worktree/applyChanges';
import { copyIncluded, includedFiles } from '../../changes/worktree/includedFiles';
import { type Loss, lossesOf } from '../../changes/worktree/losses';
import {
  bringAlong,
  filesChangedSince,
  lastSubjects,
  uncommittedDiff,
  uncommittedFiles,
} from '../../changes/worktree/uncommitted';
import {
  addWorktree,
  areAgreed,
  commitWorktree,
  discardWorktree,
  findUserGit,
  headOf,
  keepsBranch,
  type Removal,
  removeWorktree,
} from '../../changes/worktree/worktree';
import type { Worktree } from '../../changes/worktree/worktreeEntry';
import type { Conversation } from '../../client/conversation/conversation';
import type { FileStore } from '../../client/sharing/fileStore';
import { ownText } from '../../session/events/ownText';
import type { Conversations, NewConversation } from '../sessions/conversations';
import { showWarning } from '../ui/messages';
import type { ComparedFile } from '../ui/places';
import { type DiskFile, readDiskFile } from './documents/diskFiles';
import { worktreeUri } from './worktreeDocuments';

const MAX_COMPARED = 2_000;
const START = 'worktree-start';

interface SessionWorktreesOptions {
  readonly folder: string;
  readonly store: FileStore;
  readonly conversations: Conversations;
  readonly environment: () => Promise<Record<string, string>>;
  readonly files: WorkingFiles;
}

export interface SessionWorktree extends Worktree {
  readonly start: Snapshot;
}

export interface NewWorktree {
  readonly folder: string;
  readonly name: string;
  /** Uncommitted files to copy, relative to the repository root. */
  readonly files: readonly string[];
}

export interface RemovalPreview {
  readonly losses: readonly Loss[];
  readonly keepsBranch: boolean;
}

const recordSchema = z.object({
  folder: z.string(),
  top: z.string(),
  place: z.string(),
  cwd: z.string(),
  branch: z.string().check(z.regex(/^parley\//)),
  commit: z.string().check(z.regex(/^[0-9a-f]{40,64}$/)),
  start: z.array(z.object({ root: z.string(), tree: z.string().check(z.regex(/^[0-9a-f]{40,64}$/)) })),
});

export class SessionWorktrees extends Configured<SessionWorktreesOptions> {
  readonly #didChange = new Emitter<void>();

  readonly onDidChange: Event<void> = this.#didChange.event;

  async uncommitted(folder: string): Promise<readonly string[]> {
    const git = await this.#git();
    return uncommittedFiles(git, (await headOf(git, folder)).top);
  }

  /** For {@link begin}. @throws ParleyError `no-git`, `no-repository`, `no-commit`, `git-failed` */
  async make({ folder, name, files }: NewWorktree, signal: AbortSignal): Promise<Worktree> {
    const git = await this.#git();
    const worktree = await addWorktree(git, { folder, storage: this.options.folder, name }, signal);
    try {
      await bringAlong(worktree, files);
      await this.#include(git, worktree, signal);
      // Recorded without a session, so that it can be cleaned up if the window closes first.
      await this.#record(worktree, []);
    } catch (error) {
      await this.#discard(git, worktree);
      throw error;
    }
    return worktree;
  }

  /**
   * Creates a session without starting its agent. The current content of the worktree is the
   * baseline of its changes.
   * @throws ParleyError `no-such-agent`, `worktree-unread`
   */
  async begin(
    worktree: Worktree,
    { agent, title, preset }: Pick<NewConversation, 'agent' | 'title' | 'preset'>,
    signal: AbortSignal,
  ): Promise<Conversation> {
    let conversation: Conversation | undefined;
    try {
      conversation = this.options.conversations.create({ agent, cwd: worktree.cwd, title, preset });
      const states = await conversation.changes.states();
      const start = await states.take(signal);
      signal.throwIfAborted();
      if (start.gaps.length > 0) throw unread();
      await states.hold(start, START);
      await this.#record(worktree, start.folders);
      const noticeText = ownText('in-worktree', worktree.branch);
      const event = { type: 'notice', own: true, severity: 'info', title: '', said: noticeText } as const;
      conversation.note([{ at: Date.now(), event }]);
      this.#didChange.fire();
      return conversation;
    } catch (error) {
      if (conversation) await this.options.conversations.close(conversation.key);
      await this.#discard(await this.#git(), worktree);
      throw error;
    }
  }

  async find(cwd: string): Promise<SessionWorktree | undefined> {
    const text = await this.options.store.read(cwd);
    return text === undefined ? undefined : this.#parse(text);
  }

  async of({ cwd }: Pick<Conversation, 'cwd'>): Promise<SessionWorktree> {
    const found = await this.find(cwd);
    if (!found) throw new ParleyError('no-worktree', l10n.t('This session does not work in a worktree.'));
    return found;
  }

  async list(): Promise<readonly SessionWorktree[]> {
    const found: SessionWorktree[] = [];
    for await (const text of this.options.store.texts()) {
      const worktree = this.#parse(text);
      if (worktree) found.push(worktree);
    }
    return found.sort((one, two) => (one.branch < two.branch ? -1 : 1));
  }

  async changes(conversation: Conversation, signal: AbortSignal): Promise<Pick<ApplyOptions, 'changes' | 'states'>> {
    const { start } = await this.of(conversation);
    return changesSince(conversation, start, signal);
  }

  async preview(conversation: Conversation, changes: readonly FileChange[]): Promise<ApplyResult> {
    return tryChanges(await this.#applying(conversation, changes));
  }

  async apply(conversation: Conversation, changes: readonly FileChange[]): Promise<ApplyResult> {
    return applyChanges(await this.#applying(conversation, changes));
  }

  async commit(worktree: Worktree, message: string, signal: AbortSignal): Promise<void> {
    await commitWorktree(await this.#git(), worktree, message, signal);
  }

  async toCommit(
    worktree: Worktree,
    signal: AbortSignal,
  ): Promise<{ readonly diff: string; readonly subjects: readonly string[] }> {
    const git = await this.#git();
    const [diff, subjects] = await Promise.all([uncommittedDiff(git, worktree, signal), lastSubjects(git, worktree)]);
    return { diff, subjects };
  }

  sessionsIn({ cwd }: Worktree): readonly Conversation[] {
    return this.options.conversations.list().filter((one) => one.cwd === cwd);
  }

  async previewRemoval(worktree: Worktree, signal: AbortSignal): Promise<RemovalPreview> {
    const git = await this.#git();
    return { losses: await lossesOf(git, worktree, signal), keepsBranch: await keepsBranch(git, worktree) };
  }

  /**
   * Ends the sessions of a worktree and removes it, unless more would be lost than agreed.
   * @param agreed losses returned by an earlier call
   */
  async remove(worktree: Worktree, agreed: readonly Loss[] | 'all', signal: AbortSignal): Promise<Removal> {
    const git = await this.#git();
    const losses = agreed === 'all' ? [] : await lossesOf(git, worktree, signal);
    if (!areAgreed(losses, agreed)) return { losses };
    for (const { key } of this.sessionsIn(worktree)) await this.options.conversations.close(key);
    const removal = await removeWorktree(git, worktree, agreed, signal);
    if ('losses' in removal) return removal; // an agent may write while it exits
    await this.options.store.remove(worktree.cwd);
    this.#didChange.fire();
    return removal;
  }

  /**
   * Compares a worktree with another one of its repository, or with its original folder.
   * @throws ParleyError `other-repository`, `git-failed`
   */
  async compare(worktree: Worktree, other: Worktree | undefined): Promise<readonly ComparedFile[]> {
    if (other && other.top !== worktree.top)
      throw new ParleyError('other-repository', l10n.t('The sessions work in different repositories.'));
    const [left, right] = other ? [other.place, worktree.place] : [worktree.folder, worktree.cwd];
    const git = await this.#git();
    const { commit } = worktree;
    const [one, two] = await Promise.all([filesChangedSince(git, left, commit), filesChangedSince(git, right, commit)]);
    const compared: ComparedFile[] = [];
    for (const path of [...new Set([...one, ...two])].sort()) {
      if (compared.length >= MAX_COMPARED) break;
      const [was, is] = await Promise.all(
        [left, right].map((root) => readDiskFile(join(root, path)).catch(() => undefined)),
      );
      if (equalFiles(was, is)) continue;
      const label = Uri.file(join(right, path));
      compared.push({ label, left: was && worktreeUri(left, path), right: is && worktreeUri(right, path) });
    }
    return compared;
  }

  async #include(git: Git, worktree: Worktree, signal: AbortSignal): Promise<void> {
    const { top } = worktree;
    const globs: unknown = workspace.getConfiguration('git', Uri.file(top)).get('worktreeIncludeFiles');
    const texts = Array.isArray(globs) ? globs.filter((glob) => typeof glob === 'string') : [];
    const failed = await copyIncluded(worktree, await includedFiles(git, top, texts, signal), signal);
    if (failed.length > 0)
      void showWarning(l10n.t("These files couldn't be copied into the worktree: {0}", failed.join(', ')));
  }

  async #applying(conversation: Conversation, changes: readonly FileChange[]): Promise<ApplyOptions> {
    const { cwd, folder } = await this.of(conversation);
    const { files } = this.options;
    return { changes, states: await conversation.changes.states(), from: cwd, to: folder, files };
  }

  async #record(worktree: Worktree, start: Snapshot['folders']): Promise<void> {
    await this.options.store.write(worktree.cwd, JSON.stringify({ ...worktree, start }));
  }

  async #discard(git: Git, worktree: Worktree): Promise<void> {
    await discardWorktree(git, worktree).catch(() => undefined);
    await this.options.store.remove(worktree.cwd).catch(() => undefined);
  }

  async #git(): Promise<Git> {
    return findUserGit(await this.options.environment());
  }

  #parse(text: string): SessionWorktree | undefined {
    const found = recordSchema.safeParse(JSON.parse(text));
    // Only direct children of our folder are ever removed.
    if (!found.success || relative(this.options.folder, dirname(found.data.place)) !== '') return undefined;
    const { start, ...worktree } = found.data;
    return { ...worktree, start: { folders: start, gaps: [] } };
  }
}

async function changesSince(
  conversation: Conversation,
  start: Snapshot,
  signal: AbortSignal,
): Promise<{ readonly changes: readonly FileChange[]; readonly states: FolderStates }> {
  const states = await conversation.changes.states();
  const now = await states.take(signal);
  if (now.gaps.length > 0) throw unread();
  return { changes: await states.changes(start, now, signal), states };
}

function unread(): ParleyError {
  return new ParleyError('worktree-unread', l10n.t("The files of the worktree couldn't be read."));
}

function equalFiles(one: DiskFile | undefined, two: DiskFile | undefined): boolean {
  if (!one || !two) return one === two;
  return one.mode === two.mode && one.content.equals(two.content);
}
