// Sends one message to several agents and shows their answers side by side.
import { randomUUID } from 'node:crypto';
import { l10n, ViewColumn, window, workspace } from 'vscode';
import { ParleyError } from '../../base/errors';
import { oneLine } from '../../base/text';
import type { Conversation } from '../../client/conversation/conversation';
import { SessionWorktrees } from '../changes/sessionWorktrees';
import { ChatHome } from '../chat/chatHome';
import { AgentCatalog } from '../config/agentCatalog';
import type { Workbench } from '../core/workbench';
import { Archive } from '../sessions/archive';
import { Conversations } from '../sessions/conversations';
import { askLine, pick, pickSome } from '../ui/input';
import { onlyOf } from './commandSession';
import { folderOfNew } from './newSessions';
import { beginInWorktree, makeWorktree } from './worktreeActions';

/** VS Code has at most nine editor columns. */
const MAX_AGENTS = 6;
const MAX_TITLE = 60;

export interface AskSeveralArgument {
  readonly agents?: readonly string[];
  readonly text?: string;
  readonly cwd?: string;
  readonly worktrees?: boolean;
}

/**
 * Sends the draft of the composer; asks for what is missing.
 * @returns keys of the sessions; undefined if cancelled
 * @throws ParleyError `untrusted-workspace`, `too-few-agents`, `no-such-agent`, and those of
 * `SessionWorktrees.make`
 */
export async function askSeveral(
  workbench: Workbench,
  argument: AskSeveralArgument = {},
): Promise<readonly string[] | undefined> {
  const conversations = workbench.get(Conversations);
  const catalog = workbench.get(AgentCatalog);
  if (!workspace.isTrusted)
    throw new ParleyError('untrusted-workspace', l10n.t("Agents can't be started in an untrusted workspace."));
  const written = argument.text === undefined ? draftOf(onlyOf(workbench.get(ChatHome).current)) : undefined;
  const title = written
    ? l10n.t('Ask Several Agents: {0}', oneLine(written.draft.text || (written.attachments[0]?.label ?? ''), MAX_TITLE))
    : l10n.t('Ask Several Agents');
  const agents = argument.agents ?? (await pickAgents(catalog.list(), catalog.preferred().id, title));
  if (!agents) return undefined;
  const ids = [...new Set(agents)];
  if (ids.length < 2 || ids.length > MAX_AGENTS)
    throw new ParleyError('too-few-agents', l10n.t('Select 2 to {0} agents.', MAX_AGENTS));
  for (const id of ids)
    if (!catalog.find(id)) throw new ParleyError('no-such-agent', l10n.t('There is no agent “{0}”.', id));
  const prompt = l10n.t('Message to all selected agents. A longer one can be written in the chat before.');
  const text = argument.text ?? written?.draft.text ?? (await askLine({ title, prompt }));
  if (text === undefined || (text.trim() === '' && !written)) return undefined;
  const asks = argument.text === undefined;
  const cwd = argument.cwd ?? (await folderOfNew(workbench, asks));
  if (cwd === undefined) return undefined;
  const { worktrees = asks && (await askForWorktrees(workbench, cwd)) } = argument;
  if (worktrees === undefined) return undefined;

  const together = randomUUID();
  const wanted = ids.map((agent) => {
    const { name = agent } = catalog.find(agent) ?? {};
    const head = text.trim().split('\n', 1)[0]?.slice(0, MAX_TITLE) ?? '';
    return { agent, cwd, title: `${head} · ${name}`, worktree: agent, uncommitted: true };
  });
  const created = [];
  if (worktrees) for (const one of wanted) created.push(await makeWorktree(workbench, one));
  const asked = worktrees
    ? await Promise.all(created.map((worktree, at) => beginInWorktree(workbench, worktree, wanted[at] ?? {})))
    : wanted.map(({ agent, title }) => conversations.create({ agent, cwd, title }));
  // Absolute columns, since “beside” needs the previous tab to be visible.
  const { viewColumn } = window.tabGroups.activeTabGroup;
  for (const [index, conversation] of asked.entries())
    workbench.get(ChatHome).openTab(conversation, Math.min(viewColumn + index, ViewColumn.Nine));
  for (const conversation of asked) {
    conversation.send(text, written?.attachments).done.catch(() => undefined);
    workbench.get(Archive).marks.mark(conversation.key, { together });
  }
  written?.unsent.sentElsewhere(written);
  return asked.map(({ key }) => key);
}

function draftOf(conversation: Conversation | undefined) {
  if (!conversation) return undefined;
  const { unsent } = conversation;
  const { draft, attachments } = unsent;
  return draft.text.trim() === '' && attachments.length === 0 ? undefined : { unsent, draft, attachments };
}

function pickAgents(
  agents: readonly { readonly id: string; readonly name: string }[],
  preferred: string,
  title: string,
): Promise<readonly string[] | undefined> {
  const items = agents.map(({ id, name }) => ({ id, label: name, description: id, picked: id === preferred }));
  return pickSome(items, l10n.t('Select 2 to {0} agents', MAX_AGENTS), { title });
}

async function askForWorktrees(workbench: Workbench, cwd: string): Promise<boolean | undefined> {
  const worktrees = workbench.get(SessionWorktrees);
  const isRepository = await worktrees.uncommitted(cwd).then(Boolean, () => false);
  if (!isRepository) return false;
  const places = [
    { id: 'folder', label: l10n.t('In your folder'), description: l10n.t('all change the same files') },
    {
      id: 'worktrees',
      label: l10n.t('Each in a worktree'),
      description: l10n.t('to compare their changes, and to apply those of any'),
    },
  ];
  const place = await pick(places, l10n.t('Select where the agents work'));
  return place === undefined ? undefined : place === 'worktrees';
}
