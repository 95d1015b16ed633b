// Clears the queue, and offers to undo that.
import { l10n } from 'vscode';
import type { Conversation } from '../../client/conversation/conversation';
import { showInfo } from '../ui/messages';

export async function clearQueue(conversation: Conversation): Promise<void> {
  const { paused } = conversation.queue;
  const gone = conversation.queueActions.remove();
  if (gone.length === 0) return;
  const undo = l10n.t('Undo');
  const said =
    gone.length === 1 ? l10n.t('Removed the queued message.') : l10n.t('Removed {0} queued messages.', gone.length);
  if ((await showInfo(said, undo)) === undo) conversation.queueActions.restore(gone, paused);
}
