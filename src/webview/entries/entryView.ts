// The interface of entries: each is an article in the transcript that is updated with its item.
import type { ItemView, PermissionView } from '../../panel/contract';
import { el, setAttributes } from '../dom/dom';
import type { MarkdownViewContext } from '../markdown/markdownView';
import { strings } from '../text/strings';
import type { StoredItem } from './itemStore';

export interface EntryView {
  readonly element: HTMLElement;
  update(): void;
  append?(text: string): void;
  /** Adds blocks; `from` is the number of blocks before. */
  addBlocks?(from: number): void;
  /** @returns whether everything is drawn; if not, called again in the next frame */
  render?(deadline: number): boolean;
  /**
   * Draws a part whose height is only estimated.
   * @returns whether there was one
   */
  drawWhole?(): boolean;
  settle?(): void;
  setPermissions?(permissions: readonly PermissionView[]): void;
  toggle?(): void;
  seekChange?(file: string): void;
  dispose?(): void;
}

export interface EntryContext extends Omit<MarkdownViewContext, 'invalidate'> {
  /**
   * Handles an answer of the user.
   * @param byKey given with the keyboard
   */
  answered(id: string, byKey: boolean): void;
  invalidate(entry: EntryView): void;
  reveal(index: number): void;
  hasChanges(turnId: string, index: number): boolean;
  /** Reveals a file (absolute path) in that list. */
  revealChange(turnId: string, file: string, index: number): void;
}

export type EntryFactory = (stored: StoredItem, index: number, context: EntryContext) => EntryView;

/**
 * Creates the article of an item.
 * @param label accessible name
 */
export function createArticle(item: ItemView, label: string): HTMLElement {
  const article = setAttributes(el('article', `entry ${item.kind}`), {
    role: 'article',
    'aria-label': label,
    'data-entry-id': item.id,
    'data-kind': item.kind,
    tabindex: '-1',
  });
  markLate(article, item);
  return article;
}

/** Marks an entry that arrived after its turn ended. It may turn out to begin the next turn. */
export function markLate(article: HTMLElement, item: ItemView): void {
  if ((item.late === true) === (article.dataset.late === 'true')) return;
  setAttributes(article, { 'data-late': item.late ? 'true' : undefined });
  if (item.late) article.prepend(el('span', 'chip late-chip', strings.afterTheTurn));
  else article.querySelector(':scope > .late-chip')?.remove();
}
