// Clears the queue, and offers to undo that.
import { l10n } from 'vscode';
import type { Conversation } from '../../client/conversation/conversation';
import { showInfo } from '../ui/messages';

export async function clearQueue(conversation: Conversation): Promise<void> {
  const { paused } = conversation.queue;
  const removed = conversation.queueActions.remove();
  if (removed.length === 0) return;
  const undo = l10n.t('Undo');
  const text =
    removed.length === 1
      ? l10n.t('Removed the queued message.')
      : l10n.t('Removed {0} queued messages.', removed.length);
  if ((await showInfo(text, undo)) === undo) conversation.queueActions.restore(removed, paused);
}
