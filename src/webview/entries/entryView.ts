// What all kinds of entries have in common: an article in the transcript that is updated with its
// item.
import type { ItemView, PermissionView } from '../../panel/contract';
import { el, setAttributes } from '../dom/dom';
import type { MarkdownViewContext } from '../markdown/markdownView';
import { strings } from '../text/strings';
import type { StoredItem } from './itemStore';

export interface EntryView {
  readonly element: HTMLElement;
  update(): void;
  /** Text was appended to the last block. */
  append?(text: string): void;
  /** Blocks were added to those that were there, `from` in number. */
  addBlocks?(from: number): void;
  /** @returns whether everything is drawn; otherwise it is called again in the next frame */
  render?(deadline: number): boolean;
  /**
   * Draws a part of what has only an estimated height.
   * @returns whether there was any
   */
  drawWhole?(): boolean;
  settle?(): void;
  setPermissions?(permissions: readonly PermissionView[]): void;
  toggle?(): void;
  /** Shows a file in the list of what the turn changed. */
  seekChange?(file: string): void;
  dispose?(): void;
}

export interface EntryContext extends Omit<MarkdownViewContext, 'invalidate'> {
  /**
   * The user answered a question.
   * @param byKey with the keyboard
   */
  answered(id: string, byKey: boolean): void;
  /** Requests a call of `render` in the next frame. */
  invalidate(entry: EntryView): void;
  reveal(index: number): void;
  /** Whether there may be a list of what the turn of the item at `index` changed. */
  hasChanges(turnId: string, index: number): boolean;
  /** Shows a file (absolute path) in that list. */
  revealChange(turnId: string, file: string, index: number): void;
}

/** Creates the view of an item at a transcript index. */
export type EntryFactory = (stored: StoredItem, index: number, context: EntryContext) => EntryView;

/**
 * Creates the article of an item.
 * @param label its accessible name
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

/** Marks an entry that arrived after its turn. A message may turn out to begin the next turn. */
export function markLate(article: HTMLElement, item: ItemView): void {
  if ((item.late === true) === (article.dataset.late === 'true')) return;
  setAttributes(article, { 'data-late': item.late ? 'true' : undefined });
  if (item.late) article.prepend(el('span', 'chip late-chip', strings.afterTheTurn));
  else article.querySelector(':scope > .late-chip')?.remove();
}
