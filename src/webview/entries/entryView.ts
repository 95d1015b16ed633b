// What every kind of entry has in common: an article in the transcript, redrawn when its item changes.
import type { ItemView, PermissionView, SessionMessage } from '../../panel/contract';
import { el, setAttributes } from '../dom/dom';
import type { MarkdownViewContext } from '../markdown/markdownView';
import { strings } from '../text/strings';
import type { StoredItem } from './itemStore';

/** One entry of the transcript while it is in the page. */
export interface EntryView {
  readonly element: HTMLElement;
  /** The item was replaced. */
  update(): void;
  /** Text came to the end of its last block. */
  append?(text: string): void;
  /** Draws what is new. @returns whether all is drawn; otherwise it is called again in the next frame */
  render?(deadline: number): boolean;
  /** Draws a part of what was only given room so far, so that heights within it are real. @returns whether there was any: then call it again in the next frame */
  drawWhole?(): boolean;
  /** Nothing more is expected of it for now. */
  settle?(): void;
  /** The questions that are open about it. */
  setPermissions?(permissions: readonly PermissionView[]): void;
  /** Opens or closes it, where there is something to open. */
  toggle?(): void;
  dispose?(): void;
}

/** What an entry needs from the panel around it. */
export interface EntryContext extends Omit<MarkdownViewContext, 'invalidate'> {
  post(message: SessionMessage): void;
  /** The user has answered a question. @param byKey with the keyboard */
  answered(id: string, byKey: boolean): void;
  /** What the user chose for this item, or undefined. */
  isExpanded(id: string): boolean | undefined;
  setExpanded(id: string, expanded: boolean): void;
  /** `entry` has something to draw in the next frame. */
  invalidate(entry: EntryView): void;
  /** The reader opened or closed something: the end is no longer what they look at. */
  unpin(): void;
}

/** Makes the view of a stored item at a transcript index. */
export type EntryFactory = (stored: StoredItem, index: number, context: EntryContext) => EntryView;

/** The article of an item, with the attributes that others rely on. `label` is what assistive technology calls it. */
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

/** Marks what came after its turn had ended. */
export function markLate(article: HTMLElement, item: ItemView): void {
  if (!item.late || article.dataset.late) return;
  article.dataset.late = 'true';
  article.prepend(el('span', 'chip late-chip', strings.afterTheTurn));
}
