// Folds the list of changed files out below a line.
import type { Disposable } from '../../base/disposable';
import type { ChangesCount, ChangesScope } from '../../panel/contract';
import { el } from '../dom/dom';
import { type ChangesList, changesList } from './changesLists';
import { createFileList, type FileListView } from './fileList';
import { panel } from './panelServices';

export class ListFold implements Disposable {
  /** Where the list is; empty while it is folded. */
  readonly body = el('div', 'changes-body');
  readonly #scope: ChangesScope;
  readonly #toggle: HTMLElement;
  readonly #id: string;
  #count: ChangesCount | undefined;
  #list: ChangesList | undefined;
  #view: FileListView | undefined;
  #stop: (() => void) | undefined;

  /** @param toggle the button that folds the list; it gets `aria-expanded` */
  constructor(scope: ChangesScope, toggle: HTMLElement) {
    this.#scope = scope;
    this.#toggle = toggle;
    this.#id = scope === 'review' ? 'changes' : `changes ${scope.turnId}`;
    toggle.addEventListener('click', () => this.toggle());
  }

  /** The host has counted: shows or updates the list if it is unfolded. */
  setCount(count: ChangesCount): void {
    this.#count = count;
    this.#draw();
  }

  toggle(): void {
    panel.setExpanded(this.#id, !this.#isOpen);
    this.#draw();
    if (this.#scope !== 'review' && this.body.parentElement) panel.keepInView(this.body.parentElement);
  }

  /** Unfolds the list, and focuses the file with this id in it. */
  seek(file: string): void {
    panel.setExpanded(this.#id, true);
    this.#draw();
    if (this.#list) this.#list.sought = file;
    this.#view?.seek();
  }

  dispose(): void {
    this.#close();
  }

  get #isOpen(): boolean {
    return panel.isExpanded(this.#id) ?? false;
  }

  #draw(): void {
    const isOpen = this.#isOpen && (this.#count?.files ?? 0) > 0;
    this.#toggle.ariaExpanded = String(isOpen);
    if (!isOpen) {
      this.#close();
      return;
    }
    if (!this.#list) this.#open();
    else if (this.#count) this.#list.files.count(this.#count);
  }

  #open(): void {
    const list = changesList(this.#scope);
    this.#list = list;
    list.isShown = true;
    if (this.#count) list.files.count(this.#count);
    this.#view = createFileList(
      list,
      { act: (kind, file) => panel.post({ type: 'changesAction', kind, scope: this.#scope, file }) },
      () => this.#toggle.focus({ preventScroll: true }),
    );
    this.body.replaceChildren(this.#view.element);
    this.#stop = panel.effect(() => this.#view?.setBusy(panel.changesWork.value !== undefined));
  }

  #close(): void {
    this.#stop?.();
    this.#view?.dispose();
    if (this.#list) this.#list.isShown = false;
    this.#view = undefined;
    this.#list = undefined;
    this.body.replaceChildren();
  }
}
