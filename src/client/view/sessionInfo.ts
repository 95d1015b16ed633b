// Details of a session besides its transcript: the running agent, the protocol, and what the
// session received.
import * as l10n from '@vscode/l10n';
import { formatNumber } from '../../base/localFormat';
import { head } from '../../base/text';
import type { Conversation } from '../conversation/conversation';
import { type ServerState, serverStates } from '../mcp/serverStates';
import { accountsText } from './accounts';

const MAX_DETAIL = 300;

/** `icon`: name of a codicon. Agents' texts are still untrusted here. */
export interface InfoRow {
  readonly icon: string;
  readonly label: string;
  readonly value: string;
  readonly detail?: string;
  /** Where it is set: user settings, or a file of the workspace. */
  readonly setting?: { readonly key: string; readonly file?: string };
  /** Command that shows more, without `parley.`. */
  readonly command?: 'mcp.show';
}

type Known = Pick<Conversation, 'agent' | 'cwd' | 'link' | 'services' | 'model'>;

export function sessionInfo(conversation: Known): readonly InfoRow[] {
  const { agent, cwd, link } = conversation;
  const { description } = link ?? {};
  const account = accountsText(link?.authStatus);
  const agentName = [description?.title ?? description?.name, description?.version].filter(Boolean).join(' ');
  return [
    {
      icon: 'vm',
      label: agent.name,
      value: description ? agentName : l10n.t('Not running'),
    },
    ...(description
      ? [
          {
            icon: 'plug',
            label: l10n.t('Protocol'),
            value: description.protocol === 'communication' ? l10n.t('HTTP agent') : versionLabel(description.protocol),
            detail: versionReason(conversation),
          },
        ]
      : []),
    ...(account !== undefined ? [{ icon: 'account', label: l10n.t('Account'), value: account }] : []),
    { icon: 'folder', label: l10n.t('Folder'), value: cwd },
    ...mcpRows(conversation),
    ...systemPromptRows(conversation),
  ];
}

function mcpRows({ link, model }: Known): readonly InfoRow[] {
  const states = [...(link ? serverStates(link, model.state).values() : [])];
  if (states.length === 0) return [];
  const count = (kind: ServerState['kind']): number => states.filter((state) => state.kind === kind).length;
  const value = [
    formatNumber(states.length),
    ...(count('failed') > 0 ? [l10n.t('{0} failed', count('failed'))] : []),
    ...(count('needsSignIn') > 0 ? [l10n.t('{0} waiting for sign-in', count('needsSignIn'))] : []),
  ].join(' · ');
  return [{ icon: 'server-process', label: l10n.t('MCP servers'), value, command: 'mcp.show' }];
}

export function versionLabel(protocol: 1 | 2): string {
  return protocol === 2 ? l10n.t('version 2 (Preview)') : l10n.t('version {0}', protocol);
}

function versionReason({ agent, link, services }: Known): string | undefined {
  const protocol = link?.description.protocol;
  const choice = services.offers?.choiceOf(agent);
  if (!choice || protocol === 'communication') return undefined;
  if (choice.offer !== protocol) return l10n.t('Version {0} from the next start on', choice.offer);
  switch (choice.why) {
    case 'set':
      return l10n.t('As set for the agent');
    case 'only':
      return l10n.t('The agent supports only this version');
    case 'undecided':
      return l10n.t("Version 2 (Preview) hasn't been compared yet");
    case 'keeps-all':
      return l10n.t('The agent loses nothing in version 2 (Preview)');
    case 'loses':
      return l10n.t('Missing in version 2 (Preview): {0}', head(choice.lost.join(', '), MAX_DETAIL));
  }
}

/** Shows what the session received, whatever the setting says now. */
function systemPromptRows({ agent, cwd, link, services }: Known): readonly InfoRow[] {
  const label = l10n.t('System prompt');
  const key = 'parley.systemPrompt';
  const configured = services.systemPrompt?.(agent.id, cwd) ?? [];
  if (link && !link.description.features.systemPrompt) {
    const value = l10n.t('not supported by the agent');
    return configured.length > 0 ? [{ icon: 'circle-slash', label, value, setting: { key } }] : [];
  }
  return (link?.given?.systemPrompt ?? configured).map(({ text, file, isCut }) => {
    const from = file ?? l10n.t('from your settings');
    const value = isCut ? l10n.t('{0}, cut to {1} characters', from, formatNumber(text.length)) : from;
    return {
      icon: 'note',
      label,
      value,
      detail: head(text.replace(/\s+/g, ' ').trim(), MAX_DETAIL),
      setting: { key, file },
    };
  });
}
