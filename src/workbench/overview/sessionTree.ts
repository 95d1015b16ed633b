// The rows of the list of sessions. Reports only rows whose appearance changed.
import type { SessionStatus } from '../../client/view/sessionStatus';
import type { MarkedFilter, MarkedSession, SessionMarkStore } from '../../store/sessions/sessionMarks';
import type { LiveSession, LiveSessions } from './liveSessions';

const PAGE = 50;
const MAX_PINNED = 200;

export type Grouping = 'state' | 'agent' | 'folder' | 'none';
export const GROUPINGS: readonly Grouping[] = ['state', 'agent', 'folder', 'none'];

export interface ListFilter {
  /** Part of a title, a folder or an agent's name. */
  readonly text?: string;
  readonly states?: readonly SessionStatus[];
  readonly archived?: boolean;
}

export interface SessionEntry extends LiveSession {
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly isLive: boolean;
  readonly together?: string;
}

export interface GroupNode {
  readonly kind: 'group';
  readonly id: string;
  readonly name: string;
}

/** Sessions of several agents that got the same message. */
export interface TogetherNode {
  readonly kind: 'together';
  readonly id: string;
}

export interface SessionNode {
  readonly kind: 'session';
  readonly id: string;
  readonly session: string;
}

/** The row “Show More Sessions” below the node `of`. */
export interface MoreNode {
  readonly kind: 'more';
  readonly id: string;
  readonly of: string;
}

export type ListNode = GroupNode | TogetherNode | SessionNode | MoreNode;

export interface SessionTreeSources {
  readonly live: Pick<LiveSessions, 'rows'>;
  readonly stored: () => Pick<SessionMarkStore, 'list' | 'groups' | 'of'>;
  /** Returns sessions of other windows, and those whose agent works or asks without a window. */
  readonly others: () => readonly { readonly session: MarkedSession; readonly status: SessionStatus }[];
  readonly titleOf: (session: MarkedSession) => string;
  readonly agentName: (id: string) => string;
}

/** Nodes to update; `all`: the whole list. */
export type Redraw = 'all' | readonly ListNode[];

const ROOT = 'root';
const STATE_ORDER: readonly SessionStatus[] = ['needsYou', 'working', 'failed', 'ready', 'otherWindow', 'ended'];

interface Pages {
  readonly sessions: readonly MarkedSession[];
  readonly hasMore: boolean;
}

export class SessionTree {
  readonly #sources: SessionTreeSources;
  readonly #appearanceOf: (node: ListNode) => string;
  readonly #nodes = new Map<string, ListNode>();
  readonly #loadedRows = new Map<string, readonly ListNode[]>();
  readonly #parents = new Map<string, ListNode | undefined>();
  readonly #appearances = new Map<string, string>();
  readonly #pages = new Map<string, Pages>();
  /** Sessions that are not paged: open, pinned, or of other windows. */
  #entries = new Map<string, SessionEntry>();
  readonly #paged = new Map<string, SessionEntry>();
  #grouping: Grouping;
  #filter: ListFilter = {};

  /** @param appearanceOf returns the appearance of a row as text, for detecting changes */
  constructor(sources: SessionTreeSources, grouping: Grouping, appearanceOf: (node: ListNode) => string) {
    this.#sources = sources;
    this.#grouping = grouping;
    this.#appearanceOf = appearanceOf;
  }

  get grouping(): Grouping {
    return this.#grouping;
  }

  get filter(): ListFilter {
    return this.#filter;
  }

  arrange(grouping: Grouping, filter: ListFilter): void {
    this.#grouping = grouping;
    this.#filter = filter;
    this.#pages.clear();
    this.#paged.clear();
    this.#nodes.clear();
    this.#parents.clear();
    this.#loadedRows.clear();
    this.#appearances.clear();
    this.#read();
  }

  agentName(id: string): string {
    return this.#sources.agentName(id);
  }

  entry(key: string): SessionEntry | undefined {
    return this.#entries.get(key) ?? this.#paged.get(key);
  }

  members(node: TogetherNode): readonly SessionEntry[] {
    return this.#loaded().filter((entry) => this.#togetherId(entry) === node.id);
  }

  /** In a status group, counts only sessions with that status. */
  count(node: GroupNode): number {
    const entries = this.#inGroup(node);
    return this.#grouping === 'state' ? entries.filter(({ status }) => status === node.name).length : entries.length;
  }

  children(node: ListNode | undefined): readonly ListNode[] {
    if (this.#entries.size === 0 && node === undefined) this.#read();
    const rows = this.#childrenOf(node);
    this.#loadedRows.set(node?.id ?? ROOT, rows);
    for (const row of rows) {
      this.#parents.set(row.id, node);
      this.#appearances.set(row.id, this.#appearanceOf(row));
    }
    return rows;
  }

  parent(node: ListNode): ListNode | undefined {
    return this.#parents.get(node.id);
  }

  find(key: string): SessionNode | undefined {
    const node = this.#nodes.get(`session:${key}`);
    return node?.kind === 'session' && this.#parents.has(node.id) ? node : undefined;
  }

  more(node: MoreNode): Redraw {
    this.#readPage(node.of, this.#queryOf(node.of), (this.#pages.get(node.of)?.sessions.length ?? 0) + PAGE);
    const above = this.#nodes.get(node.of);
    return above ? [above] : 'all';
  }

  /** @param stored re-reads the pages of stored sessions too @returns nodes that look different */
  update(stored: boolean): Redraw {
    if (this.#loadedRows.size === 0) return [];
    if (stored) {
      this.#paged.clear();
      for (const [id, { sessions }] of this.#pages)
        this.#readPage(id, this.#queryOf(id), Math.max(PAGE, sessions.length));
    }
    this.#read();
    const changed: ListNode[] = [];
    for (const [id, rows] of [...this.#loadedRows]) {
      const node = this.#nodes.get(id);
      if (id !== ROOT && !node) continue;
      const now = this.#childrenOf(node);
      if (!equalNodes(rows, now)) {
        if (!node) return 'all';
        changed.push(node);
      }
    }
    for (const rows of this.#loadedRows.values())
      for (const node of rows) {
        const appearance = this.#appearanceOf(node);
        if (this.#appearances.get(node.id) === appearance) continue;
        this.#appearances.set(node.id, appearance);
        if (!changed.includes(node)) changed.push(node);
      }
    return changed;
  }

  #childrenOf(node: ListNode | undefined): readonly ListNode[] {
    switch (node?.kind) {
      case undefined:
        return this.#grouping === 'none' ? this.#rows(this.#all(), ROOT) : this.#groupNodes();
      case 'group':
        return this.#rows(this.#inGroup(node), node.id);
      case 'together':
        return this.members(node).map(({ key }) => this.#session(key));
      default:
        return [];
    }
  }

  #groupNodes(): readonly GroupNode[] {
    const visible = this.#visibleEntries();
    if (this.#grouping === 'state') {
      const together = togetherStates(visible);
      const states = new Set(visible.map(({ status, together: id = '' }) => together.get(id) ?? status));
      if (this.#showsStatus('ended') && this.#hasStored()) states.add('ended');
      return STATE_ORDER.filter((state) => states.has(state)).map((state) => this.#group(state));
    }
    const by = this.#grouping === 'agent' ? 'agent' : 'cwd';
    const ofKnown = visible.map(({ agentId, cwd }) => (by === 'agent' ? agentId : cwd));
    const ofStored = this.#showsStatus('ended') ? this.#sources.stored().groups(by, this.#storedFilter()) : [];
    return [...new Set([...ofKnown, ...ofStored])].map((name) => this.#group(name));
  }

  #inGroup(node: GroupNode): readonly SessionEntry[] {
    const visible = this.#visibleEntries();
    const states = this.#grouping === 'state' ? togetherStates(visible) : undefined;
    const nameOf = ({ status, agentId, cwd, together = '' }: SessionEntry): string =>
      states ? (states.get(together) ?? status) : this.#grouping === 'agent' ? agentId : cwd;
    const hasStored = this.#showsStatus('ended') && (this.#grouping !== 'state' || node.name === 'ended');
    const stored = hasStored ? this.#storedIn(node.id) : [];
    return [...visible.filter((entry) => nameOf(entry) === node.name), ...stored];
  }

  #all(): readonly SessionEntry[] {
    return [...this.#visibleEntries(), ...(this.#showsStatus('ended') ? this.#storedIn(ROOT) : [])];
  }

  #rows(entries: readonly SessionEntry[], of: string): readonly ListNode[] {
    const together = new Map<string, number>();
    for (const entry of entries) {
      const id = this.#togetherId(entry);
      if (id !== undefined) together.set(id, (together.get(id) ?? 0) + 1);
    }
    const rows = new Set<ListNode>();
    for (const entry of entries) {
      const id = this.#togetherId(entry);
      if (id === undefined || (together.get(id) ?? 0) < 2) rows.add(this.#session(entry.key));
      else rows.add(this.#node({ kind: 'together', id }));
    }
    const hasMore = this.#pages.get(of)?.hasMore === true;
    return [...rows, ...(hasMore ? [this.#node({ kind: 'more', id: `more:${of}`, of })] : [])];
  }

  /** Stored sessions have a separate row, as they are paged. */
  #togetherId({ key, together }: SessionEntry): string | undefined {
    if (together === undefined || this.#grouping === 'agent') return undefined;
    return `together:${this.#entries.has(key) ? 'open' : 'stored'}:${together}`;
  }

  #visibleEntries(): readonly SessionEntry[] {
    return [...this.#entries.values()].filter((entry) => this.#matchesFilter(entry)).sort(inOrder);
  }

  #loaded(): readonly SessionEntry[] {
    const visible = this.#visibleEntries();
    return [...visible, ...[...this.#paged.values()].filter(({ key }) => !this.#entries.has(key))];
  }

  #matchesFilter(entry: SessionEntry): boolean {
    if (!this.#showsStatus(entry.status)) return false;
    if (entry.archived !== (this.#filter.archived === true)) return false;
    const text = this.#filter.text?.toLowerCase();
    if (!text) return true;
    return [entry.title, entry.cwd, entry.agentName, entry.agentId].some((one) => one.toLowerCase().includes(text));
  }

  #showsStatus(status: SessionStatus): boolean {
    return this.#filter.states?.includes(status) ?? true;
  }

  #read(): void {
    const { live, others } = this.#sources;
    const stored = this.#sources.stored();
    const entries = new Map<string, SessionEntry>();
    for (const session of live.rows) {
      const { pinned, archived, together } = stored.of(session.key);
      entries.set(session.key, { ...session, pinned, archived, isLive: true, together: together || undefined });
    }
    for (const { session, status } of others())
      if (!entries.has(session.key)) entries.set(session.key, this.#entryOf(session, status));
    for (const session of stored.list({ ...this.#storedFilter(), pinned: true, limit: MAX_PINNED }))
      if (!entries.has(session.key)) entries.set(session.key, this.#entryOf(session));
    this.#entries = entries;
  }

  #entryOf(session: MarkedSession, status: SessionStatus = 'ended'): SessionEntry {
    const { key, agentId, cwd, updatedAt, marks } = session;
    const { titleOf, agentName } = this.#sources;
    const title = titleOf(session);
    return { key, status, title, agentId, agentName: agentName(agentId), cwd, at: updatedAt, isLive: false, ...marks };
  }

  #storedIn(id: string): readonly SessionEntry[] {
    const query = this.#queryOf(id);
    if (!query) return [];
    if (!this.#pages.has(id)) this.#readPage(id, query, PAGE);
    const sessions = this.#pages.get(id)?.sessions ?? [];
    return sessions.flatMap((session) => {
      if (this.#entries.has(session.key)) return [];
      const entry = this.#entryOf(session);
      this.#paged.set(entry.key, entry);
      return [entry];
    });
  }

  #readPage(id: string, query: MarkedFilter | undefined, count: number): void {
    if (!query) return;
    const sessions: MarkedSession[] = [];
    let hasMore = true;
    while (hasMore && sessions.length < count) {
      const limit = Math.min(1000, count - sessions.length + 1);
      const last = sessions.at(-1);
      const page = this.#sources.stored().list({ ...query, limit, before: last });
      sessions.push(...page);
      hasMore = page.length === limit;
    }
    this.#pages.set(id, { sessions: sessions.slice(0, count), hasMore: sessions.length > count });
  }

  #hasStored(): boolean {
    return this.#sources
      .stored()
      .list({ ...this.#storedFilter(), pinned: false, limit: this.#entries.size + 1 })
      .some(({ key }) => !this.#entries.has(key));
  }

  #queryOf(id: string): MarkedFilter | undefined {
    const filter = { ...this.#storedFilter(), pinned: false };
    if (id === ROOT) return filter;
    const node = this.#nodes.get(id);
    if (node?.kind !== 'group') return undefined;
    if (this.#grouping === 'agent') return { ...filter, agentId: node.name };
    if (this.#grouping === 'folder') return { ...filter, cwd: node.name };
    return node.name === 'ended' ? filter : undefined;
  }

  #storedFilter(): MarkedFilter {
    const { text, archived = false } = this.#filter;
    return { archived, text: text || undefined };
  }

  #group(name: string): GroupNode {
    return this.#node({ kind: 'group', id: `${this.#grouping}:${name}`, name });
  }

  #session(key: string): SessionNode {
    return this.#node({ kind: 'session', id: `session:${key}`, session: key });
  }

  /** Returns the same object for equal nodes, since VS Code identifies rows by it. */
  #node<T extends ListNode>(node: T): T {
    const known = this.#nodes.get(node.id) as T | undefined;
    if (!known) this.#nodes.set(node.id, node);
    return known ?? node;
  }
}

/** Order: sessions that need the user, pinned, working, then the newest. */
function inOrder(a: SessionEntry, b: SessionEntry): number {
  return rank(a) - rank(b) || b.at - a.at || (a.key < b.key ? -1 : 1);
}

function rank({ status, pinned }: SessionEntry): number {
  if (status === 'needsYou') return 0;
  if (pinned) return 1;
  return status === 'working' ? 2 : 3;
}

function togetherStates(entries: readonly SessionEntry[]): ReadonlyMap<string, SessionStatus> {
  const states = new Map<string, SessionStatus>();
  for (const { together, status } of entries) {
    if (together === undefined) continue;
    const before = states.get(together) ?? status;
    states.set(together, STATE_ORDER.indexOf(status) < STATE_ORDER.indexOf(before) ? status : before);
  }
  return states;
}

function equalNodes(a: readonly ListNode[], b: readonly ListNode[]): boolean {
  return a.length === b.length && a.every((node, index) => node === b[index]);
}
