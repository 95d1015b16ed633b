// The lists of changed files of the displayed session: one per turn, and one for the review.
import { type Signal, signal } from '@preact/signals';
import type { ChangesScope, ToWebview } from '../../panel/contract';
import { isExpanded, post, setExpanded } from '../host/host';
import { ChangedFiles } from './changedFiles';

const MAX_LISTS = 20;

/** A list with the user's position in it, which is kept when the list leaves the page. */
export class ChangesList {
  readonly scope: ChangesScope;
  readonly files: ChangedFiles;
  readonly isOpen: Signal<boolean>;
  readonly fileToFocus = signal<string | undefined>(undefined);
  /** px */
  scrollTop = 0;
  /** Index of the file in the tab order. */
  active = 0;
  hasFocus = false;
  /** Number of lines in the page that show the list. */
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

  focusFile(file: string): void {
    this.setOpen(true);
    this.fileToFocus.value = file;
  }
}

const lists = new Map<string, ChangesList>();

export function changesList(scope: ChangesScope): ChangesList {
  const name = keyOf(scope);
  const list = lists.get(name) ?? new ChangesList(scope);
  lists.delete(name);
  lists.set(name, list);
  for (const [oldest, { lines }] of lists) {
    if (lists.size <= MAX_LISTS) break;
    if (lines === 0 && oldest !== name) lists.delete(oldest);
  }
  return list;
}

export function receiveChanges(message: Extract<ToWebview, { type: 'changes' }>): void {
  lists.get(keyOf(message.scope))?.files.receive(message);
}

/** Removes all lists: another session is shown. */
export function forgetChanges(): void {
  lists.clear();
}

/** Repeats all requests: the host restarted, so pending ones get no answer. */
export function refreshChanges(): void {
  for (const { files } of lists.values()) files.refresh();
}

function keyOf(scope: ChangesScope): string {
  return scope === 'review' ? scope : `turn ${scope.turnId}`;
}
