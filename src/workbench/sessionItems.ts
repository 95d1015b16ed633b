// What the list of sessions is made of: rows that do something when they are chosen, with buttons.
import { l10n, type QuickInputButton, type QuickPickItem, QuickPickItemKind, ThemeIcon, window } from 'vscode';

export type SessionItem = QuickPickItem & {
  /** What choosing it does. */
  readonly run?: () => Promise<unknown>;
  /** The kept session that choosing it brings back, by its key. */
  readonly recalls?: string;
  /** The list stays open. */
  readonly stays?: true;
};

export interface SessionAction extends QuickInputButton {
  readonly run: () => Promise<void>;
}

export function button(icon: string, tooltip: string): QuickInputButton {
  return { iconPath: new ThemeIcon(icon), tooltip };
}

export function action(icon: string, tooltip: string, run: () => Promise<void>): SessionAction {
  return { ...button(icon, tooltip), run };
}

export function separator(label: string): SessionItem {
  return { label, kind: QuickPickItemKind.Separator };
}

/** The row below a page of a longer list. */
export function moreItem(run: () => Promise<unknown>): SessionItem {
  return { label: l10n.t('$(chevron-down) More…'), alwaysShow: true, stays: true, run };
}

export async function confirmDelete(title: string): Promise<boolean> {
  const yes = l10n.t('Delete');
  const text = l10n.t('Delete the session “{0}”? This cannot be undone.', title);
  return (await window.showWarningMessage(text, { modal: true }, yes)) === yes;
}
