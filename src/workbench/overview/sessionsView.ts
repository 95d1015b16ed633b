// The view “Sessions”. Updates changed rows a few times a second while visible.
import { l10n, type Memento } from 'vscode';
import { type Disposable, Part } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { Tree, TreeRow, TreeSource } from '../ui/treeView';
import type { Clock } from './liveSessions';
import { rowOf, statusLabel } from './rowLabels';
import {
  GROUPINGS,
  type Grouping,
  type ListFilter,
  type ListNode,
  type MoreNode,
  type Redraw,
  SessionTree,
  type SessionTreeSources,
} from './sessionTree';

const TOGETHER_MS = 250;
const TIMES_MS = 60_000;
const GROUPING = 'parley.sessionList.grouping';

type SessionsTree = Pick<
  Tree<ListNode>,
  'isVisible' | 'selected' | 'select' | 'onDidShow' | 'refresh' | 'description' | 'message'
>;

export class SessionsView extends Part implements TreeSource<ListNode> {
  readonly #view: SessionsTree;
  readonly #memento: Memento;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #tree: SessionTree;
  #timer: Disposable | undefined;
  #agingTimer: Disposable | undefined;
  #isStoredOld = false;
  #isOld = false;
  #currentSession: string | undefined;

  constructor(view: SessionsTree, sources: SessionTreeSources, memento: Memento, clock: Clock, log: Log) {
    super();
    this.#view = view;
    this.#memento = memento;
    this.#clock = clock;
    this.#log = log;
    const look = (node: ListNode): string => JSON.stringify(this.row(node));
    const known = memento.get(GROUPING);
    this.#tree = new SessionTree(sources, GROUPINGS.find((one) => one === known) ?? 'state', look);
    this.own(
      view.onDidShow(() => {
        if (this.#isOld) this.#draw();
        this.#age();
        this.#select();
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

  get selected(): string | undefined {
    const node = this.#view.selected;
    return node?.kind === 'session' ? node.session : undefined;
  }

  children(node: ListNode | undefined): readonly ListNode[] {
    try {
      return this.#tree.children(node);
    } catch (error) {
      this.#log.warn(`sessions: ${messageOf(error)}`);
      this.#view.message = messageOf(error);
      return [];
    }
  }

  parent(node: ListNode): ListNode | undefined {
    return this.#tree.parent(node);
  }

  row(node: ListNode): TreeRow {
    return rowOf(node, this.#tree, this.#clock.now());
  }

  group(grouping: Grouping): void {
    void this.#memento.update(GROUPING, grouping);
    this.#tree.arrange(grouping, this.filter);
    this.#view.refresh(undefined);
  }

  show(filter: ListFilter): void {
    this.#tree.arrange(this.grouping, filter);
    this.#describe();
    this.#view.refresh(undefined);
  }

  more(node: MoreNode): void {
    this.#refresh(this.#tree.more(node));
  }

  /** Selects the row of the current session, as soon as it exists. */
  select(key: string): void {
    this.#currentSession = key;
    this.#select();
  }

  /** @param stored whether stored sessions or those of other windows changed too */
  changed(stored: boolean): void {
    this.#isStoredOld ||= stored;
    this.#isOld = true;
    if (!this.#view.isVisible) return;
    this.#timer ??= this.#clock.schedule(() => this.#draw(), TOGETHER_MS);
  }

  override dispose(): void {
    this.#timer?.dispose();
    this.#agingTimer?.dispose();
    super.dispose();
  }

  #select(): void {
    const row = this.#currentSession === undefined ? undefined : this.#tree.find(this.#currentSession);
    if (row) this.#view.select(row);
  }

  #refresh(redraw: Redraw): void {
    this.#view.refresh(redraw === 'all' ? undefined : redraw);
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
      if (redraw === 'all' || redraw.length > 0) this.#refresh(redraw);
      this.#select();
    } catch (error) {
      this.#log.warn(`sessions: ${messageOf(error)}`);
    }
  }

  #age(): void {
    this.#agingTimer?.dispose();
    if (!this.#view.isVisible) return;
    this.#agingTimer = this.#clock.schedule(() => {
      this.changed(false);
      this.#age();
    }, TIMES_MS);
  }

  #describe(): void {
    const { text, states, archived } = this.filter;
    const parts = [
      ...(archived ? [l10n.t('Archived')] : []),
      ...(states ? states.map(statusLabel) : []),
      ...(text ? [`“${text}”`] : []),
    ];
    this.#view.description = parts.join(' · ');
  }
}
