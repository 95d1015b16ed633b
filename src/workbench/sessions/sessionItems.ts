// Rows of the session list, each with an action and buttons.
import { l10n } from 'vscode';
import type { ListButton, ListRow } from '../ui/input';
import { askModal } from '../ui/messages';

export type SessionItem = ListRow & {
  readonly run?: () => Promise<unknown>;
  readonly recalls?: string;
  readonly look?: () => void;
  readonly stays?: true;
};

export function action(icon: string, tooltip: string, run: () => Promise<void>): ListButton {
  return { icon, tooltip, run };
}

export function separator(label: string): SessionItem {
  return { label, separates: true };
}

export function moreItem(run: () => Promise<unknown>): SessionItem {
  return { label: [{ icon: 'chevron-down' }, ` ${l10n.t('More…')}`], alwaysShow: true, stays: true, run };
}

/**
 * @param copies number of its messages that others may read
 * @returns whether to delete those too; undefined if the session stays
 */
export async function confirmDelete(title: string, copies = 0): Promise<{ readonly copies: boolean } | undefined> {
  const yes = l10n.t('Delete');
  const all = l10n.t('Delete with Copies');
  const text = l10n.t('Delete the session “{0}”? This cannot be undone.', title);
  const detail =
    copies === 0
      ? undefined
      : l10n.t(
          'Your bucket contains copies of {0} messages. If you delete them, links you shared to this session stop working.',
          copies,
        );
  const choice = await askModal(text, detail, copies === 0 ? [yes] : [yes, all]);
  return choice === undefined ? undefined : { copies: choice === all };
}
