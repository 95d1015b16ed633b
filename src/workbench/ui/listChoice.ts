// Shows a list until the user has chosen in it or gone away.
import type { Disposable } from 'vscode';
import type { List, ListRow } from './input';

export interface ChoiceRow extends ListRow {
  /** Absent: the row only informs. */
  readonly choose?: () => Promise<unknown>;
}

/** @returns undefined if the user closed the list */
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
