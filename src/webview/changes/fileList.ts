// A list of changed files: only the rows near the visible ones are in the page. One row is in the tab order; the arrow keys, Home, End and the page keys move
// between rows, and Left and Right between the buttons of a row.
import type { Disposable } from '../../base/disposable';
import { el, setAttributes } from '../dom/dom';
import { strings } from '../text/changesStrings';
import type { ChangesList } from './changesLists';
import { FileRow, type FileRowContext, type RowButton } from './fileRow';

/** Height of a row, px, as in styles/changes.css. */
const ROW = 24;
/** Rows in the page above and below the visible ones. */
const AROUND = 6;
/** Rows that are drawn before the height of the box is known. */
const FIRST_ROWS = 12;
const BUTTONS: readonly RowButton[] = ['open', 'tool', 'keep', 'undo'];

export interface FileListView extends Disposable {
  readonly element: HTMLElement;
  setBusy(busy: boolean): void;
  /** Finds and focuses the file that the list is to show (`sought`). */
  seek(): void;
}

/** @param leave the user is done with the list: focuses what it belongs to */
export function createFileList(list: ChangesList, context: FileRowContext, leave: () => void): FileListView {
  const { files } = list;
  const items = setAttributes(el('ul', 'change-items'), {
    role: 'list',
    'aria-label': strings.changedFiles,
  });
  const box = setAttributes(el('div', 'change-list', items), { tabindex: '-1' });
  const rows = new Map<string, FileRow>();
  let activeId: string | undefined;
  let isBusy = false;
  let frame = 0;
  /** The button to focus once the active row is loaded. */
  let wanted: RowButton | undefined;

  const keyOf = (index: number): string => files.at(index)?.id ?? `#${index}`;

  function draw(): void {
    frame = 0;
    const { total } = files;
    items.style.height = `${total * ROW}px`;
    const height = box.clientHeight || FIRST_ROWS * ROW;
    const first = Math.max(0, Math.min(Math.floor(box.scrollTop / ROW) - AROUND, total - 1));
    const end = Math.min(total, Math.ceil((box.scrollTop + height) / ROW) + AROUND);
    files.look(first, end);
    list.active = Math.max(0, Math.min(list.active, total - 1));
    const shown: number[] = [];
    for (let index = first; index < end; index++) shown.push(index);
    // The row with the focus stays, wherever the list is scrolled to.
    if (box.contains(document.activeElement) && total > 0) {
      if (list.active < first) shown.unshift(list.active);
      else if (list.active >= end) shown.push(list.active);
    }
    const keys = new Set(shown.map(keyOf));
    for (const [key, row] of rows) {
      if (keys.has(key)) continue;
      rows.delete(key);
      row.element.remove();
    }
    let next = items.firstElementChild;
    for (const index of shown) {
      const row = rowOf(keyOf(index));
      row.element.style.top = `${index * ROW}px`;
      row.show(files.at(index), index, total);
      row.setActive(index === list.active);
      if (row.element === next) next = next.nextElementSibling;
      else items.insertBefore(row.element, next);
    }
    activeId = files.at(list.active)?.id;
    focusWanted();
  }

  function rowOf(key: string): FileRow {
    let row = rows.get(key);
    if (row) return row;
    row = new FileRow(context);
    row.setBusy(isBusy);
    rows.set(key, row);
    return row;
  }

  function drawSoon(): void {
    frame ||= requestAnimationFrame(draw);
  }

  /** The list changed: what is focused, or else what is on top, stays where it is. */
  function changed(): void {
    const hadFocus = box.contains(document.activeElement);
    const focused = activeId === undefined ? undefined : rows.get(activeId)?.focused;
    const anchor = hadFocus && activeId !== undefined ? activeId : topId();
    const before = anchor === undefined ? -1 : Number(rows.get(anchor)?.element.dataset.index);
    const at = activeId === undefined ? -1 : files.indexOf(activeId);
    if (at >= 0) list.active = at;
    else if (hadFocus && files.total > 0) wanted = focused === 'undo' ? 'open' : (focused ?? 'open');
    // While the pointer is in it, the list does not shrink: other buttons would come under the pointer.
    if (box.matches(':hover')) box.style.minHeight = `${box.offsetHeight}px`;
    items.style.height = `${files.total * ROW}px`;
    const after = anchor === undefined ? -1 : files.indexOf(anchor);
    if (before >= 0 && after >= 0) box.scrollTop += (after - before) * ROW;
    if (hadFocus && files.total === 0) leave();
    draw();
    seek();
  }

  /** Returns the id of the first visible file. */
  function topId(): string | undefined {
    return files.at(Math.ceil(box.scrollTop / ROW))?.id;
  }

  function focusWanted(): void {
    if (wanted === undefined || files.total === 0) return;
    const row = rows.get(keyOf(list.active));
    if (row && files.at(list.active)) {
      const button = wanted;
      wanted = undefined;
      row.focus(button);
    } else if (!box.contains(document.activeElement)) {
      box.focus({ preventScroll: true });
    }
  }

  function moveTo(index: number, button: RowButton): void {
    list.active = Math.max(0, Math.min(index, files.total - 1));
    const top = list.active * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
    wanted = button;
    draw();
  }

  function seek(): void {
    const { sought } = list;
    if (sought === undefined) return;
    const at = files.indexOf(sought);
    if (at < 0 && files.loadMore()) return;
    list.sought = undefined;
    if (at >= 0) moveTo(at, 'open');
  }

  function onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const row = rows.get(keyOf(list.active));
    const button = row?.focused ?? 'open';
    const page = Math.max(1, Math.floor(box.clientHeight / ROW) - 1);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: list.active + 1,
      ArrowUp: list.active - 1,
      PageDown: list.active + page,
      PageUp: list.active - page,
      Home: 0,
      End: files.total - 1,
    };
    const to = moves[event.key];
    if (to !== undefined) moveTo(to, button);
    else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      const shown = BUTTONS.filter((one) => row?.buttons[one].hidden === false);
      row?.focus(shown[shown.indexOf(button) + (event.key === 'ArrowRight' ? 1 : -1)] ?? button);
    } else if (event.key === 'Escape') leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  box.addEventListener('scroll', drawSoon, { passive: true });
  box.addEventListener('keydown', onKey);
  box.addEventListener('pointerleave', () => {
    box.style.minHeight = '';
  });
  box.addEventListener('focusin', ({ target }) => {
    const index = Number((target as Element).closest<HTMLElement>('.change')?.dataset.index);
    if (!Number.isInteger(index) || index === list.active) return;
    list.active = index;
    for (const [key, row] of rows) row.setActive(key === keyOf(index));
    activeId = files.at(index)?.id;
  });
  const subscription = files.onDidChange(changed);
  let isEntered = false;
  // Nothing has a position before the layout.
  const observer = new ResizeObserver(() => {
    if (isEntered) drawSoon();
    else if (box.clientHeight > 0) enter();
  });

  function enter(): void {
    isEntered = true;
    box.scrollTop = list.scrollTop;
    draw();
    // It was in the page a moment ago, in another place.
    if (list.hasFocus && document.activeElement === document.body) moveTo(list.active, 'open');
    list.hasFocus = false;
    seek();
  }

  items.style.height = `${files.total * ROW}px`;
  draw();
  observer.observe(box);
  return {
    element: box,
    setBusy(busy) {
      isBusy = busy;
      for (const row of rows.values()) row.setBusy(busy);
    },
    seek,
    dispose() {
      if (isEntered) list.scrollTop = box.scrollTop;
      list.hasFocus = box.contains(document.activeElement);
      files.leave();
      subscription.dispose();
      observer.disconnect();
      cancelAnimationFrame(frame);
    },
  };
}
