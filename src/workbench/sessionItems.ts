// What the list of sessions is made of: rows that do something when they are chosen, with buttons.
import { l10n } from 'vscode';
import type { ListButton, ListRow } from './ui/input';
import { askModal } from './ui/messages';

export type SessionItem = ListRow & {
  /** What choosing it does. */
  readonly run?: () => Promise<unknown>;
  /** The kept session that choosing it brings back, by its key. */
  readonly recalls?: string;
  /** The list stays open. */
  readonly stays?: true;
};

export function action(icon: string, tooltip: string, run: () => Promise<void>): ListButton {
  return { icon, tooltip, run };
}

export function separator(label: string): SessionItem {
  return { label, separates: true };
}

/** The row below a page of a longer list. */
export function moreItem(run: () => Promise<unknown>): SessionItem {
  return { label: [{ icon: 'chevron-down' }, ` ${l10n.t('More…')}`], alwaysShow: true, stays: true, run };
}

export async function confirmDelete(title: string): Promise<boolean> {
  const yes = l10n.t('Delete');
  const text = l10n.t('Delete the session “{0}”? This cannot be undone.', title);
  return (await askModal(text, undefined, [yes])) === yes;
}
