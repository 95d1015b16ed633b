// Commands of comments on what agents did: the buttons of VS Code's comment threads, and the plan as a
// text to comment on.
import { type Comment, type CommentReply, type CommentThread, l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { planMarkdown } from '../../session/model/sessionMarkdown';
import { titleOf } from '../sessions/sessionLabels';
import type { Command, CommandServices, Register } from './commandServices';
import { sessionOf } from './commandSession';

export function feedbackCommands(
  services: Pick<CommandServices, 'feedback' | 'chat' | 'conversations' | 'texts'>,
  register: Register,
): Command[] {
  const { feedback, texts } = services;
  return [
    register('comments.add', (reply: CommentReply) => feedback.add(reply)),
    register('comments.addAndSend', async (reply: CommentReply) => {
      feedback.add(reply);
      await feedback.send();
    }),
    register('comments.remove', (comment: Comment) => feedback.remove(comment)),
    register('comments.discard', (thread: CommentThread) => feedback.discard(thread)),
    register('comments.send', () => feedback.send()),
    register('commentOnPlan', async (argument?: unknown) => {
      const conversation = await sessionOf(services, argument);
      const { model } = conversation;
      const entry = model.state.entries[model.planIndex ?? -1];
      const text = entry?.kind === 'plan' ? planMarkdown(entry) : '';
      if (text === '') throw new ParleyError('no-plan', l10n.t('There is no plan in this session.'));
      await texts.show(l10n.t('Plan: {0}', titleOf(conversation)), text);
    }),
  ];
}
