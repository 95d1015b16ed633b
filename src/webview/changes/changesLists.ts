// The lists of changed files of the displayed session: those of turns, and what waits for review.
import type { ChangesScope, ToWebview } from '../../panel/contract';
import { ChangedFiles } from './changedFiles';
import { panel } from './panelServices';

/** A list, and the place of the user in it, which stays when the list leaves the page. */
export interface ChangesList {
  readonly scope: ChangesScope;
  readonly files: ChangedFiles;
  /** px */
  scrollTop: number;
  /** Index of the file that is in the tab order. */
  active: number;
  /** The focus is in the list. */
  hasFocus: boolean;
  /** It is unfolded in the page. */
  isShown: boolean;
  /** The id of a file to be found and focused. */
  sought?: string | undefined;
}

/** Lists that are kept while nobody looks at them. */
const MOST_LISTS = 20;

const lists = new Map<string, ChangesList>();

/** Returns the list of a scope, created when it is first asked for. */
export function changesList(scope: ChangesScope): ChangesList {
  const name = nameOf(scope);
  let list = lists.get(name);
  lists.delete(name);
  list ??= {
    scope,
    files: new ChangedFiles((from, to) => panel.post({ type: 'changes', scope, from, to })),
    scrollTop: 0,
    active: 0,
    hasFocus: false,
    isShown: false,
  };
  lists.set(name, list);
  for (const [oldest, { isShown }] of lists) {
    if (lists.size <= MOST_LISTS) break;
    if (!isShown) lists.delete(oldest);
  }
  return list;
}

/** The host has sent a part of a list. */
export function receiveChanges(message: Extract<ToWebview, { type: 'changes' }>): void {
  lists.get(nameOf(message.scope))?.files.receive(message);
}

/** Another session is shown. */
export function forgetChanges(): void {
  lists.clear();
}

/** The host has started over: what was requested of it does not come any more. */
export function renewChanges(): void {
  for (const { files } of lists.values()) files.renew();
}

/** Turns have ids of their own, which never begin so. */
function nameOf(scope: ChangesScope): string {
  return scope === 'review' ? scope : `turn ${scope.turnId}`;
}
