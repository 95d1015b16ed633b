// Commands to sign in to an agent and out of it.

import { l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { localize } from '../../base/localizable';
import { canStart, guidanceOf, nameOf } from '../../client/connection/signIn';
import { openAgentSettings } from '../config/settings';
import { pick } from '../ui/input';
import { askModal, showInfo } from '../ui/messages';
import type { Command, CommandServices, Register } from './commandServices';
import { sessionOf } from './commandSession';

export function signInCommands(services: CommandServices, register: Register): Command[] {
  return [
    register('signIn', async (argument?: { method?: string }) => {
      const conversation = await sessionOf(services, argument);
      const { agent, connection } = conversation;
      if (connection.kind !== 'authRequired')
        throw new ParleyError('not-needed', l10n.t("{0} doesn't require you to sign in.", agent.name));
      const { methods } = connection;
      const id =
        argument?.method ??
        (await pick(
          methods.map((method) => ({
            id: method.id,
            label: nameOf(method),
            detail:
              canStart(method, agent) && method.type !== 'terminal'
                ? method.description
                : localize(guidanceOf(method, agent)),
          })),
          l10n.t('Sign in with'),
        ));
      const method = methods.find((candidate) => candidate.id === id);
      if (!method) return;
      if (canStart(method, agent)) await conversation.signIn(method.id);
      else if (method.type === 'env_var')
        await guide(localize(guidanceOf(method, agent)), () => conversation.restart());
      else void showInfo(localize(guidanceOf(method, agent)));
    }),
    register('signOut', async (argument?: unknown) => {
      const conversation = await sessionOf(services, argument);
      if (conversation.isBusy && !(await confirmStop(conversation.agent.name))) return;
      await conversation.signOut();
    }),
  ];
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
  const yes = l10n.t('Sign Out');
  const text = l10n.t('{0} is working. Signing out stops it.', agent);
  return (await askModal(text, undefined, [yes])) === yes;
}
