// The entries nested in one call: a line with their number and state, then some of them.

import { revealControls } from '../../base/revealControls';
import type { ItemView, ToWebview } from '../../panel/contract';
import { button, el, icon, setAttributes } from '../dom/dom';
import { createEntry } from '../entries/createEntry';
import type { EntryContext, EntryView } from '../entries/entryView';
import { createGroupEntry, createGroupLine } from '../entries/groupEntry';
import type { ItemStore } from '../entries/itemStore';
import { isExpanded, post, setExpanded } from '../host/host';
import { strings } from '../text/strings';
import { type CallGroup, CallGroups } from './callGroups';

type ToolItem = Extract<ItemView, { kind: 'tool' }>;

/** Number of entries per request, and maximum in the page. */
const CHUNK_SIZE = 50;
const MAX_ENTRIES = 150;

/** The entries of a call that are in the page, starting at number `from`. */
export interface NestContents {
  calls: number;
  from: number;
  total: number;
  /** Transcript indexes; undefined until they arrive. */
  indexes: number[] | undefined;
}

export interface NestHost {
  readonly store: ItemStore;
  readonly context: EntryContext;
  asking(): ReadonlySet<number>;
  hides(index: number): boolean;
  hold(): void;
  draw(entry: HTMLElement, index: number): void;
}

export class Nest {
  readonly index: number;
  readonly #host: NestHost;
  readonly #entry: HTMLElement;
  readonly #contents: NestContents;
  readonly #line: HTMLButtonElement;
  readonly #mark = el('span', 'nest-mark');
  readonly #label = el('span', 'cut');
  readonly #list = setAttributes(el('div', 'nest-list'), { role: 'group' });
  readonly #groups = new CallGroups({ isExpanded, setExpanded, isInUse: () => false });
  /** By transcript index. */
  readonly #views = new Map<number, { readonly name: string; readonly view: EntryView }>();
  #pendingTarget: { readonly index: number; readonly drawn: (view: EntryView) => void } | undefined;
  #isRequested = false;

  constructor(host: NestHost, index: number, entry: HTMLElement, contents: NestContents) {
    this.#host = host;
    this.index = index;
    this.#entry = entry;
    this.#contents = contents;
    this.#line = button('group-line nest-line', '', () => this.#toggle());
    this.#line.append(this.#mark, this.#label);
    entry.append(el('div', 'nest', this.#line, this.#list));
    entry.addEventListener('keydown', this.#onKey);
    if (this.#call?.nested?.calls !== this.#contents.calls) {
      this.#drop(0, this.#contents.indexes?.length ?? 0);
      this.#contents.indexes = undefined;
    }
    this.#regroup();
  }

  view(index: number): EntryView | undefined {
    return this.#views.get(index)?.view;
  }

  update(): void {
    const call = this.#call;
    if (!call) return;
    const words = this.#wordsOf(call);
    const isOpen = this.#isOpen;
    this.#contents.calls = call.nested!.calls;
    this.#mark.replaceChildren(icon(isOpen ? 'chevron-down' : 'chevron-right'));
    if (this.#label.textContent !== words) this.#label.textContent = words;
    this.#label.classList.toggle('asks', this.#host.asking().has(this.index));
    this.#line.setAttribute('aria-expanded', String(isOpen));
    this.#list.setAttribute('aria-label', `${revealControls(call.title)}: ${words}`);
    this.#list.hidden = !isOpen;
    if (!isOpen) return;
    if (!this.#contents.indexes && !this.#pendingTarget)
      this.#request({ from: Number.MAX_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER });
    this.#draw();
  }

  /** @returns whether the call is still running */
  tick(): boolean {
    const call = this.#call;
    if (!call || !isRunning(call)) return false;
    this.#label.textContent = this.#wordsOf(call);
    return true;
  }

  put(index: number): void {
    const { indexes, from } = this.#contents;
    if (!indexes) return;
    const position = indexes.indexOf(index);
    const stored = this.#host.store.get(index);
    if (position >= 0 && stored) this.#groups.set(from + position, stored.item, false);
    else {
      const isAtEnd = from + indexes.length === this.#contents.total;
      this.#contents.total++;
      if (!isAtEnd) {
        this.update();
        return;
      }
      this.#preventEviction([index]);
      indexes.push(index);
      if (stored) this.#groups.set(from + indexes.length - 1, stored.item, false);
      if (indexes.length > MAX_ENTRIES) this.#drop(0, CHUNK_SIZE);
    }
    this.#views.get(index)?.view.update();
    if (this.#isOpen) this.#draw();
  }

  receive({ from, total, items }: Extract<ToWebview, { type: 'nested' }>): void {
    this.#isRequested = false;
    const contents = this.#contents;
    const newIndexes = items.map(({ index }) => index);
    this.#preventEviction(newIndexes);
    contents.total = total;
    const old = contents.indexes ?? [];
    if (contents.indexes && from + newIndexes.length === contents.from) {
      contents.indexes = [...newIndexes, ...old];
      contents.from = from;
      if (contents.indexes.length > MAX_ENTRIES) this.#drop(MAX_ENTRIES, contents.indexes.length);
    } else if (contents.indexes && from === contents.from + old.length) {
      contents.indexes = [...old, ...newIndexes];
      if (contents.indexes.length > MAX_ENTRIES) this.#drop(0, contents.indexes.length - MAX_ENTRIES);
    } else {
      this.#drop(0, old.length);
      contents.from = from;
      contents.indexes = newIndexes;
    }
    this.#regroup();
    this.update();
    const target = this.#pendingTarget;
    if (!target || !contents.indexes.includes(target.index)) return;
    this.#pendingTarget = undefined;
    this.find(target.index, target.drawn);
  }

  find(index: number, drawn: (view: EntryView) => void): void {
    const position = this.#contents.indexes?.indexOf(index) ?? -1;
    if (position < 0) this.#pendingTarget = { index, drawn };
    if (!this.#isOpen) this.#setOpen(true);
    if (position < 0) {
      this.#isRequested = false;
      this.#request({ from: 0, to: 0, around: index });
      return;
    }
    const number = this.#contents.from + position;
    const group = this.#groups.at(number);
    if (group && !group.isOpen) this.#groups.toggle(group);
    this.#draw();
    const view = this.view(index);
    if (view) drawn(view);
  }

  dispose(): void {
    for (const { view } of this.#views.values()) view.dispose?.();
    this.#views.clear();
    this.#entry.removeEventListener('keydown', this.#onKey);
  }

  get #call(): ToolItem | undefined {
    const item = this.#host.store.get(this.index)?.item;
    return item?.kind === 'tool' && item.nested ? item : undefined;
  }

  get #isOpen(): boolean {
    const call = this.#call;
    return call !== undefined && isExpanded(`nest:${call.id}`) === true;
  }

  #wordsOf(call: ToolItem): string {
    const { calls, now } = call.nested!;
    const goes = isRunning(call);
    return [
      calls > 0 ? strings.nested.calls(calls) : strings.nested.messages,
      ...(this.#host.asking().has(this.index) ? [strings.nested.waitsForYou] : []),
      ...(goes ? [strings.nested.running(Date.now() - call.at)] : []),
      ...(goes && now !== undefined ? [revealControls(now)] : []),
    ].join(' · ');
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const isLeft = event.key === 'ArrowLeft';
    if (!isLeft && event.key !== 'ArrowRight') return;
    if (event.target === this.#entry || event.target === this.#line) {
      if (this.#isOpen !== isLeft) return;
      event.preventDefault();
      event.stopPropagation();
      this.#toggle();
    } else if (isLeft && event.target instanceof HTMLElement && event.target.parentElement === this.#list) {
      event.preventDefault();
      event.stopPropagation();
      this.#entry.focus();
    }
  };

  #toggle(): void {
    this.#host.context.unpin();
    this.#setOpen(!this.#isOpen);
  }

  #setOpen(isOpen: boolean): void {
    const call = this.#call;
    if (!call) return;
    setExpanded(`nest:${call.id}`, isOpen);
    if (!isOpen) {
      this.#drop(0, this.#contents.indexes?.length ?? 0);
      this.#contents.indexes = undefined;
      this.#draw();
    }
    this.update();
  }

  #request(range: { readonly from: number; readonly to: number; readonly around?: number }): void {
    if (this.#isRequested) return;
    this.#isRequested = true;
    post({ type: 'nested', index: this.index, ...range });
  }

  #preventEviction(indexes: readonly number[]): void {
    for (const index of indexes) this.#host.store.inUse.add(index);
  }

  #drop(first: number, end: number): void {
    const { indexes } = this.#contents;
    if (!indexes || end <= first) return;
    for (const index of indexes.splice(first, end - first)) this.#host.store.inUse.delete(index);
    if (first === 0) this.#contents.from += end - first;
    this.#regroup();
  }

  #regroup(): void {
    this.#groups.clear();
    const { indexes = [], from } = this.#contents;
    for (const [place, index] of indexes.entries()) {
      const stored = this.#host.store.get(index);
      if (stored) this.#groups.set(from + place, stored.item, false);
    }
  }

  #draw(): void {
    this.#host.hold();
    const { indexes = [], from, total } = this.#contents;
    const nodes: HTMLElement[] = [];
    if (from > 0 && indexes.length > 0) nodes.push(this.#more(from, strings.nested.earlier, from - CHUNK_SIZE, from));
    const removed = new Set(this.#views.keys());
    for (const [place, index] of indexes.entries()) {
      const number = from + place;
      const stored = this.#host.store.get(index);
      if (!stored || !this.#host.hides(index) || this.#groups.hides(number)) continue;
      removed.delete(index);
      nodes.push(this.#viewAt(number, index, stored.item.id).element);
    }
    const end = from + indexes.length;
    if (end < total && indexes.length > 0)
      nodes.push(this.#more(total - end, strings.nested.later, end, end + CHUNK_SIZE));
    if (this.#contents.indexes === undefined) nodes.push(el('p', 'dim nest-more', strings.nested.loading));
    for (const index of removed) {
      this.#views.get(index)?.view.dispose?.();
      this.#views.delete(index);
    }
    putNodes(this.#list, nodes);
    for (const index of indexes) {
      const view = this.view(index);
      const item = this.#host.store.get(index)?.item;
      if (view && item?.kind === 'tool' && item.nested) this.#host.draw(view.element, index);
    }
  }

  #viewAt(number: number, index: number, id: string): EntryView {
    const group = this.#groups.at(number);
    const isLine = group !== undefined && !group.isOpen;
    const name = isLine ? `group ${id}` : id;
    const existing = this.#views.get(index);
    if (existing?.name === name) {
      if (isLine) existing.view.update();
      this.#drawGroup(existing.view.element, number, group);
      return existing.view;
    }
    existing?.view.dispose?.();
    const view = isLine
      ? createGroupEntry(
          id,
          () => this.#groups.counts(this.#groups.at(number) ?? group),
          () => this.#toggleGroup(number),
        )
      : createEntry(this.#host.store.get(index)!, index, this.#host.context);
    view.element.dataset.index = String(index);
    view.element.dataset.entry = `nested ${id}`;
    this.#views.set(index, { name, view });
    this.#drawGroup(view.element, number, group);
    return view;
  }

  #drawGroup(entry: HTMLElement, number: number, group: CallGroup | undefined): void {
    if (entry.classList.contains('group')) return;
    entry.classList.toggle('in-group', group !== undefined);
    entry.querySelector(':scope > .group-line:not(.nest-line)')?.remove();
    if (!group || group.first !== number) return;
    entry.prepend(createGroupLine(true, this.#groups.counts(group), () => this.#toggleGroup(number)));
  }

  #toggleGroup(number: number): void {
    const group = this.#groups.at(number);
    if (!group) return;
    this.#host.context.unpin();
    this.#groups.toggle(group);
    this.#draw();
    const first = this.#contents.indexes?.[group.first - this.#contents.from];
    const line = first === undefined ? null : this.view(first)?.element.querySelector<HTMLElement>('.group-line');
    line?.focus({ preventScroll: true });
  }

  #more(count: number, words: (count: number) => string, from: number, to: number): HTMLElement {
    return button('link nest-more', words(count), () => {
      this.#host.context.unpin();
      this.#request({ from: Math.max(0, from), to });
    });
  }
}

function isRunning({ status, nested }: ToolItem): boolean {
  return status === 'in_progress' || status === 'pending' || (nested?.open ?? 0) > 0;
}

/** Orders the nodes of a box without moving those in place. */
function putNodes(box: HTMLElement, nodes: readonly HTMLElement[]): void {
  const wanted = new Set<Element>(nodes);
  for (const old of [...box.children]) if (!wanted.has(old)) old.remove();
  let at = box.firstElementChild;
  for (const node of nodes) {
    if (node === at) at = at.nextElementSibling;
    else box.insertBefore(node, at);
  }
}
