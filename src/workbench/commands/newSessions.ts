// Chooses the folder of a new session, and what it inherits from an empty one that it replaces.
import { basename } from 'node:path';
import { l10n, window, workspace } from 'vscode';
import type { Conversation } from '../../client/conversation/conversation';
import { ChatHome } from '../chat/chatHome';
import type { Workbench } from '../core/workbench';
import { Archive } from '../sessions/archive';
import { Conversations } from '../sessions/conversations';
import { pick } from '../ui/input';

/**
 * Returns the only folder, or the one that the user chooses; undefined if cancelled.
 * @param asks false: uses the first one, which is that of the active editor
 */
export async function folderOfNew(workbench: Workbench, asks = true): Promise<string | undefined> {
  const { folders } = workbench.get(Conversations);
  const uri = window.activeTextEditor?.document.uri;
  const active = uri && workspace.getWorkspaceFolder(uri)?.uri.fsPath;
  const sorted = [...folders].sort((one, other) => Number(other === active) - Number(one === active));
  if (!asks || sorted.length < 2) return sorted[0];
  const items = sorted.map((folder) => ({ id: folder, label: basename(folder), description: folder }));
  return pick(items, l10n.t('Select the folder of the session'));
}

export function isUnused({ model, queue }: Conversation): boolean {
  return model.state.entries.length === 0 && queue.items.length === 0;
}

export async function startInPlaceOf(
  workbench: Workbench,
  old: Conversation | undefined,
  replacement: Conversation,
): Promise<void> {
  const chat = workbench.get(ChatHome);
  if (!old || !isUnused(old)) {
    await chat.start(replacement);
    return;
  }
  const { draft, attachments } = old.unsent;
  replacement.unsent.takeOver(old.unsent);
  await chat.start(replacement);
  await workbench.get(Conversations).close(old.key);
  // Otherwise, text typed in the meantime stays with the old session.
  if (old.unsent.draft === draft && old.unsent.attachments === attachments) workbench.get(Archive).delete(old.key);
}
