// Sessions in git worktrees: creating, applying, committing, comparing, removing.

import { commands, window } from 'vscode';
import { Part } from '../../base/disposable';
import { removeWorktrees } from '../commands/removeWorktrees';
import { applyWorktree, commitWorktree, compareSessions, newSessionInWorktree } from '../commands/worktreeActions';
import { AgentCatalog } from '../config/agentCatalog';
import type { Contribution } from '../core/workbench';
import { AsideQuestions } from '../sessions/asideQuestions';
import { Conversations } from '../sessions/conversations';
import { CommitDrafts } from './commitDrafts';
import { EditorWorkingFiles } from './documents/workingFiles';
import type { NO_WORKTREES } from './reviewKeys';
import { SessionWorktrees } from './sessionWorktrees';
import { WorktreeDocuments } from './worktreeDocuments';

export const worktrees: Contribution = {
  parts(workbench) {
    const conversations = workbench.get(Conversations);
    const { environment } = workbench;
    const sessions = workbench.add(
      new SessionWorktrees({
        folder: workbench.folder('worktrees'),
        store: workbench.store('worktree-starts'),
        conversations,
        environment,
        files: workbench.get(EditorWorkingFiles),
      }),
    );
    workbench.own(new WorktreeKeys(sessions));
    workbench.own(workbench.add(new WorktreeDocuments(sessions)).register());
    workbench.add(
      new CommitDrafts({
        conversations,
        catalog: workbench.get(AgentCatalog),
        questions: workbench.get(AsideQuestions),
        worktrees: sessions,
      }),
    );
  },

  commands(workbench) {
    workbench.register('newSessionInWorktree', () => newSessionInWorktree(workbench));
    workbench.register('applyWorktree', (argument?: never) => applyWorktree(workbench, argument));
    workbench.register('commitWorktree', (argument?: never) => commitWorktree(workbench, argument));
    workbench.register('removeWorktree', (argument?: never) => removeWorktrees(workbench, argument));
    workbench.register('compareSessions', (argument?: never) => compareSessions(workbench, argument));
  },
};

class WorktreeKeys extends Part {
  readonly #worktrees: Pick<SessionWorktrees, 'list'>;

  constructor(worktrees: Pick<SessionWorktrees, 'list' | 'onDidChange'>) {
    super();
    this.#worktrees = worktrees;
    this.own(worktrees.onDidChange(() => void this.#publish()));
    this.own(
      window.onDidChangeWindowState(({ focused }) => {
        if (focused) void this.#publish();
      }),
    );
    void this.#publish();
  }

  async #publish(): Promise<void> {
    const all = await this.#worktrees.list().catch(() => []);
    const keys: typeof NO_WORKTREES = { hasWorktrees: all.length > 0 };
    for (const [name, value] of Object.entries(keys))
      await commands.executeCommand('setContext', `parley.${name}`, value);
  }
}
