// Configured agents: choosing, editing, presets, keys and headers, signing in and out.
import { l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { localize } from '../../base/localizable';
import { canStart, guidanceOf, labelOf } from '../../client/connection/signIn';
import type { Conversation } from '../../client/conversation/conversation';
import { accountsText } from '../../client/view/accounts';
import { registerForSession } from '../commands/commandSession';
import { savePreset, selectAgent } from '../commands/selectAgent';
import { AgentCatalog } from '../config/agentCatalog';
import { FolderConsent } from '../config/folderConsent';
import { RemoteHeaders } from '../config/remoteHeaders';
import { SavedKeys } from '../config/savedKeys';
import { openAgentSettings } from '../config/settings';
import type { Contribution, Workbench } from '../core/workbench';
import { Reports } from '../editor/readOnlyTexts';
import { AgentRegistry } from '../registry/agentRegistry';
import { Conversations } from '../sessions/conversations';
import { pick } from '../ui/input';
import { confirm, showInfo } from '../ui/messages';
import { manageAgents, reportDeletedKeys } from './agentsEditor';

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
    workbench.register('forgetSecrets', async () =>
      reportDeletedKeys((await remote.forget()) + (await keys.forgetAll())),
    );
    registerForSession(workbench, {
      savePreset: (conversation, argument?: { name?: string }) => savePreset(workbench, conversation, argument),
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
        // A busy agent keeps its current keys.
        if (conversation.agent.id !== changed || conversation.isBusy) continue;
        if (kind === 'ready' || kind === 'authRequired' || kind === 'failed') void conversation.restart();
      }
    },
  };
  return manageAgents(services, agent);
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

/** Only the user can set a variable; the next start reads the setting again. */
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
