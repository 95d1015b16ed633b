// Asks before opening a session that works outside this window's folders.

import { l10n } from 'vscode';
import type { SessionRecord } from '../../store/sessions/records';
import { SessionWorktrees } from '../changes/sessionWorktrees';
import { AgentCatalog } from '../config/agentCatalog';
import type { Workbench } from '../core/workbench';
import { Conversations } from '../sessions/conversations';
import { isForeign } from '../sessions/sessionLabels';
import { confirm } from '../ui/messages';

export async function knownFolders(workbench: Workbench): Promise<readonly string[]> {
  const { folders } = workbench.get(Conversations);
  const ofFolders = (await workbench.get(SessionWorktrees).list()).filter(({ folder }) => folders.includes(folder));
  return [...folders, ...ofFolders.map(({ cwd }) => cwd)];
}

export async function mayOpen(
  workbench: Workbench,
  { key, cwd, agentId }: Pick<SessionRecord, 'key' | 'cwd' | 'agentId'>,
): Promise<boolean> {
  if (workbench.get(Conversations).find(key) || !isForeign(cwd, await knownFolders(workbench))) return true;
  return confirmForeign(cwd, workbench.get(AgentCatalog).nameOf(agentId));
}

export async function confirmForeign(cwd: string, agent: string): Promise<boolean> {
  const text = l10n.t(
    'This session uses {0}, outside this workspace. {1} can read and change files there.',
    cwd,
    agent,
  );
  return confirm(text, undefined, l10n.t('Open There'));
}
