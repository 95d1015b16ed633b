// What there is to know of a session besides its transcript: the agent that runs, and how it is
// spoken to.
import * as l10n from '@vscode/l10n';
import type { Conversation } from '../conversation/conversation';

/** `icon`: name of a codicon. Texts of agents are not inert yet. */
export interface InfoRow {
  readonly icon: string;
  readonly label: string;
  readonly value: string;
  readonly detail?: string;
}

export function sessionInfo({ agent, cwd, link }: Pick<Conversation, 'agent' | 'cwd' | 'link'>): readonly InfoRow[] {
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
  ];
}
