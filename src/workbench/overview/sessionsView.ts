// The view “Sessions”. While it is visible, it reads changed rows at most a few times a second, and
// updates those that look different.
import { l10n, type Memento } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { SessionStatus } from '../../client/view/sessionStatus';
import type { Tree, TreeRow, TreeSource } from '../ui/treeView';
import { rowOf, statusLabel } from './rowLabels';
import {
  GROUPINGS,
  type Grouping,
  type ListFilter,
  type ListNode,
  type MoreNode,
  SessionTree,
  type SessionTreeSources,
} from './sessionTree';

/** Changes within this time are combined, in milliseconds. */
const TOGETHER_MS = 250;
/** Interval of updates of the relative times, in milliseconds. */
const TIMES_MS = 60_000;
const GROUPING = 'parley.sessionList.grouping';

export interface SessionsViewOptions extends Omit<SessionTreeSources, 'look'> {
  readonly memento: Memento;
  readonly now: () => number;
  readonly schedule: (run: () => void, ms: number) => Disposable;
  readonly log: Log;
}

/** What the view draws on. */
export type SessionsTree = Pick<
  Tree<ListNode>,
  'isVisible' | 'selected' | 'onDidShow' | 'refresh' | 'description' | 'message'
>;

export class SessionsView implements TreeSource<ListNode>, Disposable {
  readonly #options: SessionsViewOptions;
  readonly #view: SessionsTree;
  readonly #tree: SessionTree;
  readonly #lifetime = new DisposableStore();
  #timer: Disposable | undefined;
  #aging: Disposable | undefined;
  /** Whether the stored sessions must be read again too. */
  #isStoredOld = false;
  /** Whether something has changed while the view was hidden. */
  #isOld = false;

  constructor(view: SessionsTree, options: SessionsViewOptions) {
    this.#view = view;
    this.#options = options;
    const look = (node: ListNode): string => JSON.stringify(this.row(node));
    this.#tree = new SessionTree({ ...options, look }, groupingOf(options.memento.get(GROUPING)));
    this.#lifetime.add(
      view.onDidShow(() => {
        if (this.#isOld) this.#draw();
        this.#age();
      }),
    );
    this.#describe();
    this.#age();
  }

  get grouping(): Grouping {
    return this.#tree.grouping;
  }

  get filter(): ListFilter {
    return this.#tree.filter;
  }

  /** Our key of the session that is selected. */
  get selected(): string | undefined {
    const node = this.#view.selected;
    return node?.kind === 'session' ? node.session : undefined;
  }

  children(node: ListNode | undefined): readonly ListNode[] {
    try {
      return this.#tree.children(node);
    } catch (error) {
      this.#options.log.warn(`sessions: ${messageOf(error)}`);
      this.#view.message = messageOf(error);
      return [];
    }
  }

  parent(node: ListNode): ListNode | undefined {
    return this.#tree.parent(node);
  }

  row(node: ListNode): TreeRow {
    return rowOf(node, this.#tree, this.#options.now());
  }

  group(grouping: Grouping): void {
    void this.#options.memento.update(GROUPING, grouping);
    this.#tree.arrange(grouping, this.filter);
    this.#view.refresh(undefined);
  }

  show(filter: ListFilter): void {
    this.#tree.arrange(this.grouping, filter);
    this.#describe();
    this.#view.refresh(undefined);
  }

  more(node: MoreNode): void {
    const redraw = this.#tree.more(node);
    this.#view.refresh(redraw === 'all' ? undefined : redraw);
  }

  /** Call it after a change. @param stored stored sessions or those of other windows changed too */
  changed(stored: boolean): void {
    this.#isStoredOld ||= stored;
    this.#isOld = true;
    if (!this.#view.isVisible) return;
    this.#timer ??= this.#options.schedule(() => this.#draw(), TOGETHER_MS);
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#aging?.dispose();
    this.#lifetime.dispose();
  }

  #draw(): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    const stored = this.#isStoredOld;
    this.#isStoredOld = false;
    this.#isOld = false;
    try {
      const redraw = this.#tree.update(stored);
      this.#view.message = '';
      if (redraw === 'all') this.#view.refresh(undefined);
      else if (redraw.length > 0) this.#view.refresh(redraw);
    } catch (error) {
      this.#options.log.warn(`sessions: ${messageOf(error)}`);
    }
  }

  /** While the view can be seen, “5 min” becomes “6 min”. */
  #age(): void {
    this.#aging?.dispose();
    if (!this.#view.isVisible) return;
    this.#aging = this.#options.schedule(() => {
      this.changed(false);
      this.#age();
    }, TIMES_MS);
  }

  /** Shows beside the title what the list hides. */
  #describe(): void {
    const { text, states, archived } = this.filter;
    const parts = [
      ...(archived ? [l10n.t('Archived')] : []),
      ...(states ? states.map((state: SessionStatus) => statusLabel(state)) : []),
      ...(text ? [`“${text}”`] : []),
    ];
    this.#view.description = parts.join(' · ');
  }
}

function groupingOf(value: unknown): Grouping {
  return GROUPINGS.find((one) => one === value) ?? 'state';
}
