// What all kinds of entries have in common: an article in the transcript that is updated with its
// item.
import type { ItemView, PermissionView, SessionMessage } from '../../panel/contract';
import { el, setAttributes } from '../dom/dom';
import type { MarkdownViewContext } from '../markdown/markdownView';
import { strings } from '../text/strings';
import type { StoredItem } from './itemStore';

/** An entry of the transcript that is in the page. */
export interface EntryView {
  readonly element: HTMLElement;
  /** The item was replaced. */
  update(): void;
  /** Text was appended to its last block. */
  append?(text: string): void;
  /**
   * Draws what is new.
   * @returns whether everything is drawn; otherwise it is called again in the next frame
   */
  render?(deadline: number): boolean;
  /**
   * Draws a part of what only has an estimated height.
   * @returns whether there was any: then it is called again in the next frame
   */
  drawWhole?(): boolean;
  /** No more changes are expected for now. */
  settle?(): void;
  /** Sets the open permission requests of the entry. */
  setPermissions?(permissions: readonly PermissionView[]): void;
  /** Expands or collapses the entry, if it can be. */
  toggle?(): void;
  /** Shows a file in the list of what the turn changed. */
  seekChange?(file: string): void;
  dispose?(): void;
}

/** What an entry needs from the panel. */
export interface EntryContext extends Omit<MarkdownViewContext, 'invalidate'> {
  post(message: SessionMessage): void;
  /**
   * The user has answered a question.
   * @param byKey with the keyboard
   */
  answered(id: string, byKey: boolean): void;
  /**
   * Returns whether the user expanded the item; undefined if they neither expanded nor collapsed
   * it.
   */
  isExpanded(id: string): boolean | undefined;
  setExpanded(id: string, expanded: boolean): void;
  /** Requests a call of `render` in the next frame. */
  invalidate(entry: EntryView): void;
  /** Scrolls to an item. */
  reveal(index: number): void;
  /** Returns whether there may be a list of what the turn of the item at `index` changed. */
  hasChanges(turnId: string, index: number): boolean;
  /** Shows a file (its absolute path) in that list. */
  revealChange(turnId: string, file: string, index: number): void;
}

/** Creates the view of a stored item at a transcript index. */
export type EntryFactory = (stored: StoredItem, index: number, context: EntryContext) => EntryView;

/**
 * Creates the article of an item with the attributes that others rely on. `label` is its accessible
 * name.
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

/** Marks an entry that arrived after its turn had ended. A message may turn out to begin the next one. */
export function markLate(article: HTMLElement, item: ItemView): void {
  if ((item.late === true) === (article.dataset.late === 'true')) return;
  setAttributes(article, { 'data-late': item.late ? 'true' : undefined });
  if (item.late) article.prepend(el('span', 'chip late-chip', strings.afterTheTurn));
  else article.querySelector(':scope > .late-chip')?.remove();
}
