// A choice from a list, as most commands need it.
import { type QuickPickItem, window } from 'vscode';

export interface PickItem {
  readonly id: string;
  readonly label: string;
  readonly description?: string | undefined;
  readonly detail?: string | undefined;
  /** The one that is chosen now. */
  readonly picked?: boolean;
}

/** @returns the id of what was chosen; undefined where the user went away */
export async function pick(items: readonly PickItem[], placeHolder: string): Promise<string | undefined> {
  const options = items.map(({ id, label, description, detail, picked }): QuickPickItem & { id: string } => ({
    id,
    label: picked ? `$(check) ${label}` : label,
    ...(description && { description }),
    ...(detail && { detail }),
  }));
  return (await window.showQuickPick(options, { placeHolder, matchOnDescription: true, matchOnDetail: true }))?.id;
}
