// The lists of changed files of the displayed session: those of turns, and what waits for review.
import { type Signal, signal } from '@preact/signals';
import type { ChangesScope, ToWebview } from '../../panel/contract';
import { isExpanded, post, setExpanded } from '../host/host';
import { ChangedFiles } from './changedFiles';

/** Lists that are kept while they are not in the page. */
const MOST_LISTS = 20;

/** A list, and the user's place in it, which stays when the list leaves the page. */
export class ChangesList {
  readonly scope: ChangesScope;
  readonly files: ChangedFiles;
  readonly isOpen: Signal<boolean>;
  /** The id of a file to be found and focused. */
  readonly sought = signal<string | undefined>(undefined);
  /** px */
  scrollTop = 0;
  /** Index of the file that is in the tab order. */
  active = 0;
  hasFocus = false;
  /** Lines of it in the page. */
  lines = 0;
  readonly #id: string;

  constructor(scope: ChangesScope) {
    this.scope = scope;
    this.files = new ChangedFiles((from, to) => post({ type: 'changes', scope, from, to }));
    this.#id = scope === 'review' ? 'changes' : `changes ${scope.turnId}`;
    this.isOpen = signal(isExpanded(this.#id) ?? false);
  }

  setOpen(isOpen: boolean): void {
    setExpanded(this.#id, isOpen);
    this.isOpen.value = isOpen;
  }

  /** Unfolds the list and focuses a file. */
  seek(file: string): void {
    this.setOpen(true);
    this.sought.value = file;
  }
}

const lists = new Map<string, ChangesList>();

/** Returns the list of a scope, created when it is first asked for. */
export function changesList(scope: ChangesScope): ChangesList {
  const name = nameOf(scope);
  const list = lists.get(name) ?? new ChangesList(scope);
  lists.delete(name);
  lists.set(name, list);
  for (const [oldest, { lines }] of lists) {
    if (lists.size <= MOST_LISTS) break;
    if (lines === 0 && oldest !== name) lists.delete(oldest);
  }
  return list;
}

export function receiveChanges(message: Extract<ToWebview, { type: 'changes' }>): void {
  lists.get(nameOf(message.scope))?.files.receive(message);
}

/** Another session is shown. */
export function forgetChanges(): void {
  lists.clear();
}

/** The host has started over: pending requests get no answer. */
export function renewChanges(): void {
  for (const { files } of lists.values()) files.renew();
}

/** Ids of turns never begin like this. */
function nameOf(scope: ChangesScope): string {
  return scope === 'review' ? scope : `turn ${scope.turnId}`;
}
