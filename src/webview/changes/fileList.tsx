// A list of changed files. Only rows near the visible ones are in the page. One row is in the tab
// order; the arrow keys, Home, End and the page keys move between rows, and Left and Right between
// the buttons of a row.
import { Component, createRef } from 'preact';
import type { Disposable } from '../../base/disposable';
import { revealControls } from '../../base/revealControls';
import type { ChangedFileView, ChangesAction, ChangesCount } from '../../panel/contract';
import { Icon, IconButton } from '../components/icon';
import type { IconName } from '../dom/icons';
import { post } from '../host/host';
import { session } from '../host/session';
import { formatNumber, splitPath } from '../text/format';
import { strings } from '../text/strings';
import type { ChangesList } from './changesList';
import { guarded } from './pressGuard';

/** Height of a row, px; also in styles/changes.css. */
const ROW_HEIGHT = 24;
const OVERSCAN_ROWS = 6;
/** Rows drawn before the height of the box is known. */
const FIRST_ROWS = 12;

interface FileListProps {
  readonly list: ChangesList;
  readonly count: ChangesCount;
  reveal(index: number): void;
  /** Leaves the list: focuses the button that expands it. */
  leave(): void;
}

export class FileList extends Component<FileListProps> {
  readonly #box = createRef<HTMLDivElement>();
  #rows: { readonly first: number; readonly end: number } = { first: 0, end: 0 };
  #activeId: string | undefined;
  #buttonToFocus: number | undefined;
  #isLaidOut = false;
  #subscription: Disposable | undefined;
  // Positions are only known after the layout.
  readonly #observer = new ResizeObserver(() => {
    if (this.#isLaidOut) this.forceUpdate();
    else if (this.#element.clientHeight > 0) this.#enter();
  });

  override componentDidMount(): void {
    this.#subscription = this.props.list.files.onDidChange(() => this.#changed());
    this.#observer.observe(this.#element);
    this.componentDidUpdate();
  }

  override componentDidUpdate(): void {
    const { list } = this.props;
    list.files.setVisibleRange(this.#rows.first, this.#rows.end);
    this.#activeId = list.files.at(list.active)?.id;
    this.#focusButton();
    if (this.#isLaidOut) this.#seek();
  }

  override componentWillUnmount(): void {
    const { list } = this.props;
    if (this.#isLaidOut) list.scrollTop = this.#element.scrollTop;
    list.hasFocus = this.#hasFocus;
    list.files.hide();
    this.#subscription?.dispose();
    this.#observer.disconnect();
  }

  override render({ list, count, reveal }: FileListProps) {
    const { files, scope } = list;
    files.setCount(count);
    // Subscribes to the signal: a file to focus redraws the list.
    void list.fileToFocus.value;
    const box = this.#box.current;
    const { total } = files;
    const top = box?.scrollTop ?? 0;
    const height = box?.clientHeight || FIRST_ROWS * ROW_HEIGHT;
    const first = Math.max(0, Math.min(Math.floor(top / ROW_HEIGHT) - OVERSCAN_ROWS, total - 1));
    const end = Math.min(total, Math.ceil((top + height) / ROW_HEIGHT) + OVERSCAN_ROWS);
    this.#rows = { first, end };
    list.active = Math.max(0, Math.min(list.active, total - 1));
    const indexes = Array.from({ length: Math.max(0, end - first) }, (_, offset) => first + offset);
    // The focused row stays in the page, whatever is visible.
    if (this.#hasFocus && total > 0) {
      if (list.active < first) indexes.unshift(list.active);
      else if (list.active >= end) indexes.push(list.active);
    }
    return (
      // biome-ignore lint/a11y/noStaticElementInteractions: the rows in it have the roles
      <div
        class="change-list"
        tabIndex={-1}
        ref={this.#box}
        onScroll={() => this.forceUpdate()}
        onKeyDown={(event) => this.#onKey(event)}
        onPointerLeave={({ currentTarget }) => {
          currentTarget.style.minHeight = '';
        }}
        onFocusIn={({ target }) => {
          const index = Number((target as Element).closest<HTMLElement>('.change')?.dataset.index);
          if (!Number.isInteger(index) || index === list.active) return;
          list.active = index;
          this.forceUpdate();
        }}
      >
        <ul
          class="change-items"
          // biome-ignore lint/a11y/noRedundantRoles: without bullets, some screen readers no longer call it a list
          role="list"
          aria-label={strings.changes.changedFiles}
          style={{ height: `${total * ROW_HEIGHT}px` }}
        >
          {indexes.map((index) => {
            const file = files.at(index);
            const act = (kind: ChangesAction['kind']) => (): void => {
              if (file) post({ type: 'changesAction', kind, scope, file: file.id });
            };
            return (
              <FileRow
                key={file?.id ?? `#${index}`}
                file={file}
                index={index}
                total={total}
                isActive={index === list.active}
                act={act}
                reveal={reveal}
              />
            );
          })}
        </ul>
      </div>
    );
  }

  get #element(): HTMLDivElement {
    return this.#box.current!;
  }

  get #hasFocus(): boolean {
    return this.#box.current?.contains(document.activeElement) ?? false;
  }

  #buttons(index: number): readonly HTMLButtonElement[] {
    return [...this.#element.querySelectorAll<HTMLButtonElement>(`[data-index="${index}"] button`)];
  }

  get #focused(): number {
    return this.#buttons(this.props.list.active).indexOf(document.activeElement as HTMLButtonElement);
  }

  #changed(): void {
    const { list, leave } = this.props;
    const { files } = list;
    const box = this.#element;
    const hadFocus = this.#hasFocus;
    const focused = this.#focused;
    const indexOf = (id: string | undefined): number => (id === undefined ? -1 : files.indexOf(id));
    const rows = [...box.querySelectorAll<HTMLElement>('.change')];
    const topIndex = Math.ceil(box.scrollTop / ROW_HEIGHT);
    const anchor = rows.find(
      ({ dataset }) => Number(dataset.index) === (hadFocus && this.#activeId !== undefined ? list.active : topIndex),
    )?.dataset;
    const index = indexOf(this.#activeId);
    if (index >= 0) list.active = index;
    // Otherwise, one more key press would undo the next file.
    if (hadFocus && files.total > 0)
      this.#buttonToFocus = index >= 0 ? Math.max(0, focused) : focused === 3 ? 0 : Math.max(0, focused);
    // While the pointer is over the list, it does not shrink, so that no other button moves under
    // the pointer.
    if (box.matches(':hover')) box.style.minHeight = `${box.offsetHeight}px`;
    const items = box.firstElementChild as HTMLElement;
    items.style.height = `${files.total * ROW_HEIGHT}px`;
    const after = indexOf(anchor?.file);
    if (after >= 0) box.scrollTop += (after - Number(anchor!.index)) * ROW_HEIGHT;
    if (hadFocus && files.total === 0) leave();
    this.forceUpdate();
  }

  #enter(): void {
    const { list } = this.props;
    this.#isLaidOut = true;
    this.#element.scrollTop = list.scrollTop;
    // The focused row was moved in the page, which drops the focus.
    if (list.hasFocus && document.activeElement === document.body) this.#moveTo(list.active, 0);
    list.hasFocus = false;
    this.forceUpdate();
  }

  #focusButton(): void {
    const { list } = this.props;
    if (this.#buttonToFocus === undefined || list.files.total === 0) return;
    if (list.files.at(list.active)) {
      const buttons = this.#buttons(list.active);
      const button = buttons[this.#buttonToFocus];
      this.#buttonToFocus = undefined;
      // Avoids that screen readers read it again.
      if (button && !button.hidden && button === document.activeElement) return;
      // The other buttons only exist while the row has the focus.
      buttons[0]?.focus({ preventScroll: true });
      button?.focus({ preventScroll: true });
    } else if (!this.#hasFocus) {
      this.#element.focus({ preventScroll: true });
    }
  }

  #moveTo(index: number, button: number): void {
    const { list } = this.props;
    const box = this.#element;
    list.active = Math.max(0, Math.min(index, list.files.total - 1));
    const top = list.active * ROW_HEIGHT;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW_HEIGHT > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW_HEIGHT - box.clientHeight;
    this.#buttonToFocus = button;
    this.forceUpdate();
  }

  #seek(): void {
    const { files, fileToFocus } = this.props.list;
    const file = fileToFocus.peek();
    if (file === undefined) return;
    const index = files.indexOf(file);
    if (index < 0 && files.loadMore()) return;
    fileToFocus.value = undefined;
    if (index >= 0) this.#moveTo(index, 0);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { list, leave } = this.props;
    const { active } = list;
    const button = Math.max(0, this.#focused);
    const page = Math.max(1, Math.floor(this.#element.clientHeight / ROW_HEIGHT) - 1);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: list.files.total - 1,
    };
    const to = moves[event.key];
    if (to !== undefined) this.#moveTo(to, button);
    else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      const buttons = this.#buttons(active);
      const shown = buttons.filter(({ hidden }) => !hidden);
      const next = shown.indexOf(buttons[button]!) + (event.key === 'ArrowRight' ? 1 : -1);
      shown[next]?.focus({ preventScroll: true });
    } else if (event.key === 'Escape') leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Letters that VS Code uses for changed files. */
const LETTERS = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R' } as const;
const STATE_ICONS: Readonly<Record<ChangedFileView['state'], IconName>> = {
  unreviewed: 'circle-outline',
  kept: 'check',
  undone: 'discard',
  conflict: 'warning',
};

interface FileRowProps {
  /** Undefined if not loaded. */
  readonly file: ChangedFileView | undefined;
  readonly index: number;
  readonly total: number;
  readonly isActive: boolean;
  act(kind: ChangesAction['kind']): () => void;
  reveal(index: number): void;
}

function FileRow({ file, index, total, isActive, act, reveal }: FileRowProps) {
  const tab = { tabIndex: isActive ? 0 : -1 };
  const busy = session.changesWork.value ? 'true' : undefined;
  const isUndone = file?.state === 'undone';
  return (
    <li
      class="change"
      data-file={file?.id}
      aria-posinset={index + 1}
      aria-setsize={total}
      data-index={index}
      data-path={file?.label}
      data-change-state={file?.state}
      data-change={file?.change}
      data-redo={file?.canRedo}
      style={{ top: `${index * ROW_HEIGHT}px` }}
    >
      {file ? (
        <OpenButton file={file} {...tab} onClick={act('open')} />
      ) : (
        <button type="button" class="change-open" {...tab} />
      )}
      <span class="change-actions">
        <IconButton
          icon="go-to-file"
          label={strings.changes.showToolCall}
          hidden={file?.index === undefined}
          {...tab}
          onClick={() => file?.index !== undefined && reveal(file.index)}
        />
        <IconButton
          icon="check"
          label={strings.changes.keep}
          hidden={isUndone || file?.state === 'kept'}
          aria-disabled={busy}
          {...tab}
          {...guarded(act('keep'))}
        />
        <IconButton
          icon="discard"
          label={strings.changes.undo}
          hidden={isUndone}
          aria-disabled={busy}
          {...tab}
          {...guarded(act('undo'))}
        />
        <IconButton
          icon="redo"
          label={strings.changes.redo}
          hidden={!file?.canRedo}
          aria-disabled={busy}
          {...tab}
          {...guarded(act('redo'))}
        />
      </span>
      <span class="change-lines">
        {file && (file.isBinary ? <span class="dim">{strings.changes.binaryFile}</span> : <LineCounts {...file} />)}
      </span>
    </li>
  );
}

function OpenButton({
  file,
  ...button
}: {
  readonly file: ChangedFileView;
  readonly tabIndex: number;
  onClick(): void;
}) {
  const path = revealControls(file.label);
  const [folder, name] = splitPath(path);
  const from = file.oldLabel === undefined ? undefined : strings.changes.renamedFrom(revealControls(file.oldLabel));
  const state = file.state === 'unreviewed' ? undefined : strings.changes.changeState[file.state];
  const yours = file.alsoYours && strings.changes.alsoYours;
  const apart = file.apart && strings.changes.apart[file.apart];
  const lines = file.isBinary ? strings.changes.binaryFile : linesLabel(file);
  const words = [path, strings.changes.changeKind[file.change], from, lines, state, yours, apart];
  const label = words.filter((word) => word !== undefined).join(', ');
  return (
    <button
      type="button"
      class="change-open"
      title={file.state === 'conflict' ? `${label}\n${strings.changes.conflictHint}` : label}
      {...button}
    >
      <span class="sr-only">{label}</span>
      <span class="change-letter" aria-hidden="true">
        {LETTERS[file.change]}
      </span>
      <span class="change-name" aria-hidden="true">
        {name}
      </span>
      <span class="change-folder dim" aria-hidden="true">
        {from ?? folder.replace(/[\\/]$/, '')}
      </span>
      <Mark icon="edit" words={yours} kind="yours" />
      <Mark icon="question" words={apart} kind="apart" />
      <Mark icon={STATE_ICONS[file.state]} words={state} kind={file.state} />
    </button>
  );
}

function Mark({ icon, words, kind }: { readonly icon: IconName; readonly words?: string; readonly kind: string }) {
  return words === undefined ? null : (
    <span class={`change-mark ${kind}`} aria-hidden="true">
      <Icon name={icon} />
      <span class="words">{words}</span>
    </span>
  );
}

interface Lines {
  readonly added: number;
  readonly removed: number;
}

export function LineCounts({ added, removed }: Lines) {
  return (
    <span class="line-counts" aria-hidden="true">
      {added > 0 && <span class="plus">+{formatNumber(added)}</span>}
      {added > 0 && removed > 0 && ' '}
      {removed > 0 && <span class="minus">−{formatNumber(removed)}</span>}
    </span>
  );
}

/** "3 lines added, 1 line removed" */
export function linesLabel({ added, removed }: Lines): string {
  return `${strings.changes.linesAdded(added)}, ${strings.changes.linesRemoved(removed)}`;
}
