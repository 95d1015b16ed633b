// Drafts commit messages for staged changes or a worktree with an agent.

import { basename } from 'node:path';
import { env, l10n, type SourceControl, Uri, workspace } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { Configured } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import type { Worktree } from '../../changes/worktree/worktreeEntry';
import { type CommitRequest, commitMessageOf, commitPrompt, withTrailer } from '../../client/changes/commitMessage';
import type { AgentCatalog } from '../config/agentCatalog';
import { commitTrailer } from '../config/settings';
import type { AsideQuestions } from '../sessions/asideQuestions';
import type { Conversations } from '../sessions/conversations';
import { pick } from '../ui/input';
import { showInfo, showProgress } from '../ui/messages';
import { type GitRepository, gitExtension } from './gitExtension';
import type { SessionWorktrees } from './sessionWorktrees';

/** Status code of VS Code's Git extension. */
const UNTRACKED = 7;
const COMMITS = 10;

interface CommitDraftsOptions {
  readonly conversations: Pick<Conversations, 'peek'>;
  readonly catalog: Pick<AgentCatalog, 'preferred' | 'originOf'>;
  readonly questions: Pick<AsideQuestions, 'ask' | 'requireAgent'>;
  readonly worktrees: SessionWorktrees;
}

export class CommitDrafts extends Configured<CommitDraftsOptions> {
  /**
   * Drafts into the Source Control input box.
   * @param given default: the repository of the active session, or the user's choice
   * @throws ParleyError `untrusted-workspace`, `no-such-agent`, `no-git`, `no-repository`,
   * `no-changes`, and those of `askAside`
   */
  async draftInSourceControl(given?: Pick<SourceControl, 'rootUri'>): Promise<string | undefined> {
    const agent = this.#agent();
    const repository = await this.#repository(given?.rootUri);
    if (!repository) return undefined;
    const typed = repository.inputBox.value;
    const text = l10n.t('{0} is drafting a commit message…', agent.name);
    const message = await showProgress(text, (signal) =>
      requestFor(repository)
        .then((request) => this.#draft(agent, request, signal))
        .then((drafted) => withTrailer(drafted, commitTrailer(), agent.name))
        .catch((error) => {
          if (signal.aborted) return undefined;
          throw error;
        }),
    );
    if (message === undefined) return undefined;
    // Asks before overwriting what the user has typed.
    if (typed.trim() !== '' || repository.inputBox.value !== typed) void this.#offer(repository, message);
    else repository.inputBox.value = message;
    return message;
  }

  async draftForWorktree(worktree: Worktree, signal: AbortSignal): Promise<string> {
    const agent = this.#agent();
    const { diff, subjects } = await this.options.worktrees.toCommit(worktree, signal);
    return this.#draft(agent, { diff, subjects, isOneLine: true }, signal);
  }

  async #draft(agent: AgentDefinition, request: CommitRequest, signal: AbortSignal): Promise<string> {
    if (request.diff.trim() === '' && !request.newFiles?.length)
      throw new ParleyError('no-changes', l10n.t('There is nothing to commit.'));
    const answer = await this.options.questions.ask(agent, commitPrompt(request), signal);
    const message = commitMessageOf(answer, request.isOneLine);
    if (message === '') throw new ParleyError('no-answer', l10n.t('{0} did not answer.', agent.name));
    return message;
  }

  #agent(): AgentDefinition {
    const { conversations, catalog } = this.options;
    const agent = conversations.peek()?.agent ?? catalog.preferred();
    this.options.questions.requireAgent(agent);
    return agent;
  }

  async #repository(root: Uri | undefined): Promise<GitRepository | undefined> {
    const git = await gitExtension();
    const cwd = this.options.conversations.peek()?.cwd;
    const known = (root && git.getRepository(root)) ?? (cwd === undefined ? null : git.getRepository(Uri.file(cwd)));
    if (known) return known;
    const { repositories } = git;
    if (repositories.length === 0)
      throw new ParleyError('no-repository', l10n.t('No Git repository is open in this window.'));
    if (repositories.length === 1) return repositories[0];
    const items = repositories.map(({ rootUri: { fsPath } }) => ({
      id: fsPath,
      label: basename(fsPath),
      description: fsPath,
    }));
    const answer = await pick(items, l10n.t('Select a repository'));
    return repositories.find(({ rootUri }) => rootUri.fsPath === answer);
  }

  async #offer(repository: GitRepository, message: string): Promise<void> {
    const [replace, copy] = [l10n.t('Replace'), l10n.t('Copy')];
    const text = l10n.t('Drafted a commit message: {0}', message.split('\n', 1)[0] ?? '');
    const answer = await showInfo(text, replace, copy);
    if (answer === replace) repository.inputBox.value = message;
    else if (answer === copy) await env.clipboard.writeText(message);
  }
}

async function requestFor(repository: GitRepository): Promise<CommitRequest> {
  const { indexChanges, workingTreeChanges, untrackedChanges = [] } = repository.state;
  const isStaged = indexChanges.length > 0;
  const [diff, commits] = await Promise.all([
    repository.diff(isStaged),
    repository.log({ maxEntries: COMMITS }).catch(() => []),
  ]);
  const others = isStaged ? [] : [...workingTreeChanges, ...untrackedChanges];
  return {
    diff,
    newFiles: others.filter(({ status }) => status === UNTRACKED).map(({ uri }) => workspace.asRelativePath(uri)),
    subjects: commits.map(({ message }) => message.split('\n', 1)[0] ?? ''),
  };
}
