// The configured agents: choosing and editing them, their keys and headers, signing in and out.
import { l10n, workspace } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { ParleyError } from '../../base/errors';
import { localize } from '../../base/localizable';
import { canStart, guidanceOf, labelOf } from '../../client/connection/signIn';
import type { Conversation } from '../../client/conversation/conversation';
import { accountsText } from '../../client/view/accounts';
import { ChatHome } from '../chat/chatHome';
import { onlyOf, registerForSession } from '../commands/commandSession';
import { isUnused, startInPlaceOf } from '../commands/newSessions';
import { AgentCatalog, type AgentOrigin } from '../config/agentCatalog';
import { FolderConsent } from '../config/folderConsent';
import { RemoteHeaders } from '../config/remoteHeaders';
import { SavedKeys } from '../config/savedKeys';
import { openAgentSettings } from '../config/settings';
import type { Contribution, Workbench } from '../core/workbench';
import { Reports } from '../editor/readOnlyTexts';
import { AgentRegistry } from '../registry/agentRegistry';
import { Conversations } from '../sessions/conversations';
import { type PickItem, pick } from '../ui/input';
import { confirm, showInfo } from '../ui/messages';
import { manageAgents, tellForgotten } from './agentsEditor';

export const agents: Contribution = {
  parts(workbench) {
    const { context, log } = workbench;
    const catalog = workbench.add(new AgentCatalog(context, workbench.get(FolderConsent), log));
    workbench.add(new RemoteHeaders(context));
    workbench.add(new SavedKeys({ context, originOf: (id) => catalog.originOf(id), log }));
  },

  commands(workbench) {
    const remote = workbench.get(RemoteHeaders);
    const keys = workbench.get(SavedKeys);
    workbench.register('selectAgent', (argument?: { agent?: string }) => selectAgent(workbench, argument?.agent));
    workbench.register('manageAgents', (argument?: { agent?: string }) => editAgents(workbench, argument?.agent));
    workbench.register('forgetSecrets', async () => tellForgotten((await remote.forget()) + (await keys.forgetAll())));
    registerForSession(workbench, {
      signIn,
      async signOut(conversation) {
        if (conversation.isBusy && !(await confirmStop(conversation.agent.name))) return;
        await conversation.signOut();
      },
    });
  },
};

function editAgents(workbench: Workbench, agent?: string): Promise<void> {
  const conversations = workbench.get(Conversations);
  const services = {
    catalog: workbench.get(AgentCatalog),
    keys: workbench.get(SavedKeys),
    remote: workbench.get(RemoteHeaders),
    registry: workbench.get(AgentRegistry),
    bare: conversations.bare,
    reports: workbench.get(Reports),
    accountOf: (id: string) =>
      accountsText(
        conversations.list().find(({ agent, link }) => agent.id === id && link?.authStatus)?.link?.authStatus,
      ),
    signInChanged: (changed: string) => {
      for (const conversation of conversations.list()) {
        const { kind } = conversation.connection;
        // One that works continues with what it has.
        if (conversation.agent.id !== changed || conversation.isBusy) continue;
        if (kind === 'ready' || kind === 'authRequired' || kind === 'failed') void conversation.restart();
      }
    },
  };
  return manageAgents(services, agent);
}

/** What the list of agents offers besides them. */
const ADD_AGENT = '+';
const MANAGE_AGENTS = '';
const IN_WORKTREE = '+worktree';
const IN_FOLDER = '+folder';

async function selectAgent(workbench: Workbench, agent?: string): Promise<unknown> {
  const catalog = workbench.get(AgentCatalog);
  const conversations = workbench.get(Conversations);
  const old = onlyOf(workbench.get(ChatHome).current);
  const id = agent ?? (await pickAgent(catalog, old?.agent.id));
  if (id === undefined) return undefined;
  if (id === MANAGE_AGENTS) return editAgents(workbench);
  if (id === ADD_AGENT) return workbench.run('installAgent');
  if (id === IN_WORKTREE) return workbench.run('newSessionInWorktree');
  if (id === IN_FOLDER) return workbench.run('selectFolder');
  if (!catalog.find(id)) throw new ParleyError('no-such-agent', l10n.t('There is no agent “{0}”.', id));
  await catalog.use(id);
  // Of a session that stays, neither its worktree nor a folder of elsewhere.
  const staysThere = old && (isUnused(old) || conversations.folders.includes(old.cwd));
  const cwd = staysThere ? old.cwd : undefined;
  return startInPlaceOf(workbench, old, conversations.create({ agent: id, cwd }));
}

function pickAgent(catalog: AgentCatalog, current: string | undefined): Promise<string | undefined> {
  const items: PickItem[] = catalog.list().map((agent) => ({
    id: agent.id,
    label: agent.name,
    description: descriptionOf(agent, catalog.originOf(agent.id)),
    picked: agent.id === current,
  }));
  const folders = workspace.workspaceFolders?.length ?? 0;
  const worktree = { id: IN_WORKTREE, label: [{ icon: 'git-branch' }, ` ${l10n.t('In a worktree…')}`] };
  const folder = { id: IN_FOLDER, label: [{ icon: 'folder' }, ` ${l10n.t('In another folder…')}`] };
  const places = [...(folders > 0 && workspace.isTrusted ? [worktree] : []), ...(folders > 1 ? [folder] : [])];
  const add = { id: ADD_AGENT, label: [{ icon: 'add' }, ` ${l10n.t('Add agent…')}`] };
  const manage = { id: MANAGE_AGENTS, label: [{ icon: 'gear' }, ` ${l10n.t('Manage agents…')}`] };
  return pick([...items, ...places, add, manage], l10n.t('Select an agent'));
}

function descriptionOf(agent: AgentDefinition, origin: AgentOrigin | undefined): string {
  if (origin?.kind === 'shipped') return l10n.t('scripted demo, no model');
  const what = agent.type === 'process' ? [agent.command, ...agent.args].join(' ') : new URL(agent.url).host;
  return origin?.kind === 'folder' ? l10n.t('{0} · defined in {1}', what, origin.file) : what;
}

async function signIn(conversation: Conversation, argument?: { readonly method?: string }): Promise<void> {
  const { agent, connection } = conversation;
  if (connection.kind !== 'authRequired')
    throw new ParleyError('not-needed', l10n.t("{0} doesn't require you to sign in.", agent.name));
  const { methods } = connection;
  const items = methods.map((method) => ({
    id: method.id,
    label: localize(labelOf(method)),
    detail:
      canStart(method, agent) && method.type !== 'terminal' ? method.description : localize(guidanceOf(method, agent)),
  }));
  const id = argument?.method ?? (await pick(items, l10n.t('Sign in with')));
  const method = methods.find((candidate) => candidate.id === id);
  if (!method) return;
  if (canStart(method, agent)) await conversation.signIn(method.id);
  else if (method.type === 'env_var') await guide(localize(guidanceOf(method, agent)), () => conversation.restart());
  else void showInfo(localize(guidanceOf(method, agent)));
}

/** A variable is the user's to set; the agent that starts next reads the setting again. */
async function guide(guidance: string, tryAgain: () => Promise<void>): Promise<void> {
  const again = l10n.t('Try Again');
  const settings = l10n.t('Open Settings');
  const answer = await showInfo(guidance, again, settings);
  if (answer === again) await tryAgain();
  if (answer === settings) await openAgentSettings();
}

async function confirmStop(agent: string): Promise<boolean> {
  const text = l10n.t('{0} is working. Signing out stops it.', agent);
  return confirm(text, undefined, l10n.t('Sign Out'));
}
