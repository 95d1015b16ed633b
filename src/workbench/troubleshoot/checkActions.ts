// What the findings of checks offer to do.
import { commands, env, l10n, Uri } from 'vscode';
import { NODE_SITE, UV_SITE } from '../../registry/install/installTools';
import type { CheckAction } from '../../troubleshoot/checks/check';
import { openSettings } from '../config/settings';

const GIT_SITE = 'https://git-scm.com/downloads';

export interface ActionButton {
  readonly icon: string;
  readonly label: string;
  readonly run: () => Promise<unknown>;
}

export function actOn(action: CheckAction, agent: string): ActionButton {
  const settings = (run: () => Promise<unknown>): ActionButton => ({
    icon: 'gear',
    label: l10n.t('Open settings'),
    run,
  });
  const command = (icon: string, label: string, id: string): ActionButton => ({
    icon,
    label,
    run: async () => commands.executeCommand(id),
  });
  const site = (label: string, address: string): ActionButton => ({
    icon: 'link-external',
    label,
    run: async () => env.openExternal(Uri.parse(address)),
  });
  switch (action) {
    case 'editAgent':
      return {
        icon: 'edit',
        label: l10n.t('Edit agent…'),
        run: async () => commands.executeCommand('parley.manageAgents', { agent }),
      };
    case 'openProxySettings':
      return settings(() => openSettings('http.proxy'));
    case 'openHistorySettings':
      return settings(() => openSettings('parley.history'));
    case 'addAgent':
      return command('add', l10n.t('Add agent…'), 'parley.installAgent');
    case 'signIn':
      return command('key', l10n.t('Sign in'), 'parley.signIn');
    case 'showLog':
      return command('output', l10n.t('Show log'), 'parley.showLog');
    case 'manageTrust':
      return command('workspace-trusted', l10n.t('Manage workspace trust'), 'workbench.trust.manage');
    case 'getNode':
      return site(l10n.t('Get Node.js'), NODE_SITE);
    case 'getUv':
      return site(l10n.t('Get uv'), UV_SITE);
    case 'getGit':
      return site(l10n.t('Get Git'), GIT_SITE);
  }
}
