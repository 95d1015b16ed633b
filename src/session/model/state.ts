// The state of a session. Mutable, but only the session model writes to it.
import type { LocalizableText } from '../../base/localizable';
import type {
  AvailableCommand,
  Choice,
  ConfigOption,
  ContentBlock,
  PermissionOption,
  PermissionRuleOffer,
  PlanEntry,
  RateLimit,
  SessionMode,
  TokenParts,
  ToolContent,
  ToolLocation,
  ToolStatus,
  Usage,
} from '../events/content';
import type {
  BackgroundItem,
  Barrier,
  GapState,
  MessageRole,
  RemoteContent,
  StopReason,
  TerminalExit,
  TurnChanges,
} from '../events/event';
import type { ElicitationBody } from '../events/form';
import type { OwnText } from '../events/ownText';

interface EntryBase {
  readonly id: string;
  index: number;
  readonly turnId?: string;
  readonly late?: true;
  readonly at: number;
}

export interface MessageEntry extends EntryBase {
  readonly kind: MessageRole;
  messageId?: string;
  readonly promptId?: string;
  elsewhere?: true;
  readonly content: ContentBlock[];
  readonly parent?: string;
  /** Characters dropped because of the size limit. */
  dropped: number;
  until: number;
}

export interface ToolEntry extends EntryBase {
  readonly kind: 'tool';
  readonly toolCallId: string;
  isUnannounced?: true;
  title: string;
  name?: string;
  toolKind: string;
  status: ToolStatus;
  content: readonly ToolContent[];
  locations: readonly ToolLocation[];
  rawInput?: unknown;
  rawOutput?: unknown;
  canCancel?: boolean;
  adopted?: readonly string[];
  parent?: string;
  readonly subagentId?: string;
  endedAt?: number;
  /** How long questions about the call were open, in ms. */
  waitedMs?: number;
  decision?: {
    readonly outcome: 'selected' | 'cancelled';
    readonly by: string;
    readonly name?: string;
    readonly kind?: string;
    readonly rule?: string;
    readonly isEdited?: true;
  };
}

export interface PlanRecord extends EntryBase {
  readonly kind: 'plan';
  readonly planId: string;
  entries: readonly PlanEntry[];
  markdown?: string;
  uri?: string;
  removed?: true;
}

export interface NoticeEntry extends EntryBase {
  readonly kind: 'notice';
  severity: string;
  title: string;
  text: LocalizableText;
  said?: OwnText;
  detail?: string;
  raw?: unknown;
  action?: { readonly id: string; readonly label?: string };
  readonly beginsAnew?: true;
}

export interface GapEntry extends EntryBase {
  readonly kind: 'gap';
  readonly gapId: string;
  text: string;
  said?: OwnText;
  state: GapState;
  readonly remote?: RemoteContent;
}

export interface ErrorEntry extends EntryBase {
  readonly kind: 'error';
  readonly code: string;
  readonly text: LocalizableText;
  readonly hint?: LocalizableText;
  readonly stderr?: string;
  readonly actions?: readonly { readonly id: string; readonly label: LocalizableText }[];
}

export interface TurnEndEntry extends EntryBase {
  readonly kind: 'turn_end';
  readonly turnId: string;
}

export type Entry = MessageEntry | ToolEntry | PlanRecord | NoticeEntry | ErrorEntry | GapEntry | TurnEndEntry;

export interface Turn {
  readonly id: string;
  readonly number: number;
  readonly origin: 'user' | 'agent';
  elsewhere?: true;
  readonly startedAt: number;
  firstOutputAt?: number;
  endedAt?: number;
  /** How long the turn waited for the user, in ms. */
  waitedMs?: number;
  /** The latest periods of waiting for the user, in ms since 1970. */
  waits?: { readonly from: number; until: number }[];
  stopReason?: StopReason;
  barrier?: Barrier;
  /** Explains the end if the reason does not: a `TurnNote`, or text of the agent or the system. */
  note?: LocalizableText;
  interrupted?: true;
  cancelRequested?: true;
  readonly replayed?: true;
  tokens?: number;
  tokenParts?: TokenParts;
  usage?: Usage;
  tools: number;
  readonly files: Set<string>;
  changes?: TurnChanges;
}

export interface Terminal {
  readonly id: string;
  command?: string;
  cwd?: string;
  output: string;
  truncated: boolean;
  exit?: TerminalExit;
  released?: true;
  canCancel?: boolean;
  readonly turnId?: string;
  isStopped?: true;
}

export interface Permission {
  readonly id: string;
  readonly toolCallId?: string;
  readonly title: string;
  readonly description?: string;
  readonly command?: { readonly line: string; readonly cwd?: string };
  readonly options: readonly PermissionOption[];
  readonly ruleOffer?: PermissionRuleOffer;
  readonly at: number;
}

export type Elicitation = {
  readonly id: string;
  readonly toolCallId?: string;
  readonly message: string;
  readonly at: number;
  readonly opened?: true;
} & ElicitationBody;

export const MODE_ID = '';

export const MAX_NESTING = 5;
const MAX_ORPHANS = 5000;

interface Nest {
  readonly children: Entry[];
  readonly open: Set<ToolEntry>;
  latest: ToolEntry | undefined;
  calls: number;
  height: number;
}

export interface NestCounts {
  readonly calls: number;
  readonly open: number;
  readonly now?: string;
}

/** Nests a subagent's entries below the call that started it. */
export class Nests {
  readonly #nests = new Map<ToolEntry, Nest>();
  readonly #parents = new Map<Entry, ToolEntry>();
  readonly #orphans = new Map<string, Entry[]>();
  #orphanCount = 0;

  get isEmpty(): boolean {
    return this.#parents.size === 0;
  }

  parentOf(entry: Entry): ToolEntry | undefined {
    return this.#parents.get(entry);
  }

  pathOf(entry: Entry): readonly ToolEntry[] {
    const path: ToolEntry[] = [];
    for (let at = this.#parents.get(entry); at; at = this.#parents.get(at)) path.push(at);
    return path.reverse();
  }

  childrenOf(entry: Entry): readonly Entry[] {
    return (entry.kind === 'tool' && this.#nests.get(entry)?.children) || [];
  }

  countsOf(entry: ToolEntry): NestCounts | undefined {
    const nest = this.#nests.get(entry);
    if (!nest) return undefined;
    const { calls, open, latest } = nest;
    return { calls, open: open.size, now: latest && open.has(latest) && latest.title ? latest.title : undefined };
  }

  add(entry: Entry, id: string, parent: ToolEntry | undefined, isOpen: boolean): readonly Entry[] {
    if (this.#parents.has(entry)) return [];
    if (parent) return this.#link(entry, parent, isOpen);
    const waiting = this.#orphans.get(id) ?? [];
    if (this.#orphanCount >= MAX_ORPHANS || waiting.includes(entry)) return [];
    waiting.push(entry);
    this.#orphans.set(id, waiting);
    this.#orphanCount++;
    return [];
  }

  /** A call is new: entries that waited for it are nested in it from now on. */
  announce(id: string, parent: ToolEntry, isOpen: (entry: Entry) => boolean): readonly Entry[] {
    const waiting = this.#orphans.get(id);
    if (!waiting) return [];
    this.#orphans.delete(id);
    this.#orphanCount -= waiting.length;
    return waiting.flatMap((entry) => (this.#parents.has(entry) ? [] : this.#link(entry, parent, isOpen(entry))));
  }

  touch(entry: ToolEntry, isOpen: boolean, isRenamed: boolean): readonly ToolEntry[] {
    if (!this.#parents.has(entry)) return [];
    const path = this.pathOf(entry);
    let isUnchanged = true;
    for (const ancestor of path) {
      const nest = this.#nestOf(ancestor);
      const { open } = nest;
      if (open.has(entry) === isOpen) {
        isUnchanged &&= !(isRenamed && nest.latest === entry);
        continue;
      }
      isUnchanged = false;
      if (isOpen) {
        open.add(entry);
        nest.latest = entry;
      } else open.delete(entry);
    }
    return isUnchanged ? [] : path;
  }

  renew(): void {
    this.#orphans.clear();
    this.#orphanCount = 0;
  }

  clear(): void {
    this.renew();
    this.#nests.clear();
    this.#parents.clear();
  }

  #link(entry: Entry, parent: ToolEntry, isOpen: boolean): readonly Entry[] {
    const path = [...this.pathOf(parent), parent];
    const own = entry.kind === 'tool' ? this.#nests.get(entry) : undefined;
    const above = path.slice(0, MAX_NESTING - (own?.height ?? 0));
    const to = above.at(-1);
    if (!to || path.includes(entry as ToolEntry)) return [];
    this.#parents.set(entry, to);
    for (const [index, one] of above.entries()) {
      const nest = this.#nestOf(one);
      nest.height = Math.max(nest.height, above.length - index + (own?.height ?? 0));
      if (entry.kind !== 'tool') continue;
      nest.calls += 1 + (own?.calls ?? 0);
      for (const call of [...(own?.open ?? []), ...(isOpen ? [entry] : [])]) {
        nest.open.add(call);
        nest.latest = call;
      }
    }
    this.#nestOf(to).children.push(entry);
    return [entry, ...above];
  }

  #nestOf(entry: ToolEntry): Nest {
    const known = this.#nests.get(entry);
    if (known) return known;
    const nest: Nest = { children: [], open: new Set(), latest: undefined, calls: 0, height: 0 };
    this.#nests.set(entry, nest);
    return nest;
  }
}

export interface PlacedEntry {
  readonly entry: Entry;
  readonly depth: number;
}

export function inNestedOrder(entries: readonly Entry[], nests: Nests): readonly PlacedEntry[] {
  if (nests.isEmpty) return entries.map((entry) => ({ entry, depth: 0 }));
  const placed: PlacedEntry[] = [];
  const add = (entry: Entry, depth: number): void => {
    placed.push({ entry, depth });
    for (const child of nests.childrenOf(entry)) add(child, depth + 1);
  };
  for (const entry of entries) if (!nests.parentOf(entry)) add(entry, 0);
  return placed;
}

export class SessionState {
  readonly entries: Entry[] = [];
  readonly nests = new Nests();
  readonly turns: Turn[] = [];
  readonly terminals = new Map<string, Terminal>();
  readonly permissions = new Map<string, Permission>();
  readonly elicitations = new Map<string, Elicitation>();
  background: readonly BackgroundItem[] = [];
  /**
   * The state that the agent reported: `running`, `idle`, `requires_action`, or another value,
   * which counts as busy.
   */
  agentState: string | undefined;
  turn: Turn | undefined;
  /**
   * Events may be from the replay of a reopened session: they are shown but have no other effect.
   */
  replaying = false;
  title: string | undefined;
  isNamed = false;
  commands: readonly AvailableCommand[] = [];
  modes: readonly SessionMode[] = [];
  mode: string | undefined;
  config: readonly ConfigOption[] = [];
  readonly chosen = new Set<string>();
  /** Choices that must be in effect before the next prompt is sent. */
  wanted: readonly Choice[] = [];
  /** The agent of the choices; undefined in sessions of earlier versions. */
  choicesOf: string | undefined;
  /** The session was opened, and no prompt has been sent since. */
  isOpening = false;
  /** What the agent has reported since the session was opened; the rest is from before. */
  confirmed: { readonly mode: boolean; readonly config: boolean } = { mode: false, config: false };
  usage: Usage | undefined;
  limits: readonly RateLimit[] = [];
  /** The agent's suggestion for the next message, until the next turn. */
  suggestion: string | undefined;
}
