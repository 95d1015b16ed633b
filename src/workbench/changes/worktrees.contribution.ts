// Sessions in git worktrees of their own: creating, applying, committing, comparing, removing.
import {
  applyWorktree,
  commitWorktree,
  compareSessions,
  newSessionInWorktree,
  removeWorktree,
} from '../commands/worktreeActions';
import { AgentCatalog } from '../config/agentCatalog';
import type { Contribution } from '../core/workbench';
import { AsideQuestions } from '../sessions/asideQuestions';
import { Conversations } from '../sessions/conversations';
import { CommitDrafts } from './commitDrafts';
import { EditorWorkingFiles } from './documents/workingFiles';
import { SessionWorktrees } from './sessionWorktrees';
import { WorktreeDocuments } from './worktreeDocuments';
import { WorktreeKeys } from './worktreeKeys';

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
    workbench.register('removeWorktree', (argument?: never) => removeWorktree(workbench, argument));
    workbench.register('compareSessions', (argument?: never) => compareSessions(workbench, argument));
  },
};
