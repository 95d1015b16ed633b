// What there is to know of a session besides its transcript: the agent that runs, how it is spoken
// to, and what it gets.
import * as l10n from '@vscode/l10n';
import { formatNumber } from '../../base/localFormat';
import { head } from '../../base/text';
import type { Conversation } from '../conversation/conversation';

const MAX_DETAIL = 300;

/** `icon`: name of a codicon. Texts of agents are not inert yet. */
export interface InfoRow {
  readonly icon: string;
  readonly label: string;
  readonly value: string;
  readonly detail?: string;
  /** Where it is set: the user's settings, or a file of the workspace. */
  readonly setting?: { readonly key: string; readonly file?: string };
}

type Known = Pick<Conversation, 'agent' | 'cwd' | 'link' | 'services'>;

export function sessionInfo(conversation: Known): readonly InfoRow[] {
  const { agent, cwd, link } = conversation;
  const { description } = link ?? {};
  const called = [description?.title ?? description?.name, description?.version].filter(Boolean).join(' ');
  return [
    {
      icon: 'vm',
      label: agent.name,
      value: description ? called : l10n.t('Not running'),
    },
    ...(description
      ? [
          {
            icon: 'plug',
            label: l10n.t('Protocol'),
            value:
              description.protocol === 'communication'
                ? l10n.t('HTTP agent')
                : l10n.t('version {0}', description.protocol),
          },
        ]
      : []),
    { icon: 'folder', label: l10n.t('Folder'), value: cwd },
    ...systemPromptRows(conversation),
  ];
}

/** What the session got counts, not what the setting says by now. */
function systemPromptRows({ agent, cwd, link, services }: Known): readonly InfoRow[] {
  const label = l10n.t('System prompt');
  const key = 'parley.systemPrompt';
  const configured = services.systemPrompt?.(agent.id, cwd) ?? [];
  if (link && !link.description.features.systemPrompt) {
    const value = l10n.t("not passed: the agent doesn't support it");
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
