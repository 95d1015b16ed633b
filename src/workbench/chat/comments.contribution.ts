// Comments on agents' changes: VS Code's comment threads, and the plan as a document to comment on.
import { type Comment, type CommentReply, type CommentThread, l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { planMarkdown } from '../../session/model/sessionMarkdown';
import { ReviewIndex } from '../changes/reviewIndex';
import { registerForSession } from '../commands/commandSession';
import type { Contribution } from '../core/workbench';
import { SessionTexts } from '../editor/readOnlyTexts';
import { Archive } from '../sessions/archive';
import { Conversations } from '../sessions/conversations';
import { titleOf } from '../sessions/sessionLabels';
import { ChatHome } from './chatHome';
import { Feedback } from './feedback';

export const comments: Contribution = {
  parts(workbench) {
    const chat = workbench.get(ChatHome);
    const feedback = workbench.add(
      new Feedback({
        reviews: workbench.get(ReviewIndex),
        conversations: workbench.get(Conversations),
        memento: workbench.context.workspaceState,
        deliver: (conversation, text) => chat.present(conversation).insertWhenPainted(text),
        onCount: (count) => workbench.setContext('hasComments', count > 0),
      }),
    );
    workbench.own(workbench.get(Archive).onDidDelete((keys) => feedback.forget(keys)));
  },

  commands(workbench) {
    const feedback = workbench.get(Feedback);
    const texts = workbench.get(SessionTexts);
    workbench.register('comments.add', (reply: CommentReply) => feedback.add(reply));
    workbench.register('comments.addAndSend', async (reply: CommentReply) => {
      feedback.add(reply);
      await feedback.send();
    });
    workbench.register('comments.remove', (one?: Comment | CommentThread) => feedback.remove(one));
    workbench.register('comments.send', () => feedback.send());
    registerForSession(workbench, {
      async commentOnPlan(conversation) {
        const { model } = conversation;
        const entry = model.state.entries[model.planIndex ?? -1];
        const text = entry?.kind === 'plan' ? planMarkdown(entry) : '';
        if (text === '') throw new ParleyError('no-plan', l10n.t('There is no plan in this session.'));
        await texts.show(l10n.t('Plan: {0}', titleOf(conversation)), text);
      },
    });
  },
};
