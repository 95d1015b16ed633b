// Shows a list until the user has chosen in it or gone away.
import type { Disposable } from 'vscode';
import type { List, ListRow } from './input';

export interface ChoiceRow extends ListRow {
  /** What choosing the row does; without it, the row only says something. */
  readonly choose?: () => Promise<unknown>;
}

/**
 * Shows a list; it is gone when this resolves.
 * @returns what the chosen row or button does; undefined where the user went away
 */
export function choiceFrom(list: List<ChoiceRow>): Promise<ChoiceRow['choose']> {
  const { promise, resolve } = Promise.withResolvers<ChoiceRow['choose']>();
  const chosen = (choose: ChoiceRow['choose']): void => {
    if (!choose) return;
    resolve(choose);
    list.hide();
  };
  const listening: readonly Disposable[] = [
    list.onDidAccept((row) => chosen(row.choose)),
    list.onDidPress(chosen),
    list.onDidHide(() => {
      for (const one of listening) one.dispose();
      list.dispose();
      resolve(undefined);
    }),
  ];
  list.show();
  return promise;
}
