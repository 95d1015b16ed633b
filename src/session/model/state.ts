// The state of a session. Mutable; only the session model writes to it.
import type { LocalizableText } from '../../base/localizable';
import type {
  AvailableCommand,
  Choice,
  ConfigOption,
  ContentBlock,
  PermissionOption,
  PermissionRuleOffer,
  PlanEntry,
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
  /** Unique in the session and stable. */
  readonly id: string;
  /** Position in the transcript. It only changes when entries are inserted before this one. */
  index: number;
  /** The turn of the entry; absent outside of turns. */
  readonly turnId?: string;
  /** Received after its turn had ended. */
  readonly late?: true;
  readonly at: number;
}

export interface MessageEntry extends EntryBase {
  readonly kind: MessageRole;
  messageId?: string;
  /** The queue item that was sent as this message. */
  readonly promptId?: string;
  /** Another client sent it. */
  elsewhere?: true;
  /** Adjacent texts are one block. */
  readonly content: ContentBlock[];
  /** The id of the call that started the subagent that says this. */
  readonly parent?: string;
  /** Number of characters dropped because of the size limit. */
  dropped: number;
  /** Time of the last chunk. */
  until: number;
}

export interface ToolEntry extends EntryBase {
  readonly kind: 'tool';
  readonly toolCallId: string;
  /** Updates came before its announcement. */
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
  /** Ids of terminals that the client shows in it, as the agent named no call for them. */
  adopted?: readonly string[];
  /** The id of the call that started the subagent that makes this one, as the agent named it. */
  parent?: string;
  /** The session id of the subagent that this entry shows. */
  readonly subagentId?: string;
  endedAt?: number;
  /** Time during which questions about the call were open, in milliseconds. */
  waitedMs?: number;
  /** The answer to the last permission request for it. */
  decision?: {
    readonly outcome: 'selected' | 'cancelled';
    readonly by: string;
    readonly name?: string;
    readonly kind?: string;
    /** The rule that answered, as one line. */
    readonly rule?: string;
  };
}

export interface PlanRecord extends EntryBase {
  readonly kind: 'plan';
  readonly planId: string;
  entries: readonly PlanEntry[];
  /** Instead of entries: the plan as Markdown, or its URI. */
  markdown?: string;
  uri?: string;
  /** The agent removed the plan. */
  removed?: true;
}

export interface NoticeEntry extends EntryBase {
  readonly kind: 'notice';
  severity: string;
  title: string;
  text: LocalizableText;
  /** What the client says, in the place of the title and mostly of the text. */
  said?: OwnText;
  /** A longer text, shown on demand. */
  detail?: string;
  /** An unknown update as received. */
  raw?: unknown;
  /** A button of the client. */
  action?: { readonly id: string; readonly label?: string };
  /** The agent does not know the messages above. */
  readonly beginsAnew?: true;
}

/** A missing message, or part of one, in a session from elsewhere. */
export interface GapEntry extends EntryBase {
  readonly kind: 'gap';
  readonly gapId: string;
  text: string;
  /** What the client says, in the place of the text. */
  said?: OwnText;
  state: GapState;
  /** The location of the content, for a gap in a message of this session. */
  readonly remote?: RemoteContent;
}

export interface ErrorEntry extends EntryBase {
  readonly kind: 'error';
  readonly code: string;
  readonly text: LocalizableText;
  readonly hint?: LocalizableText;
  readonly stderr?: string;
  /** Ways to resend the prompt of the turn. */
  readonly actions?: readonly { readonly id: string; readonly label: LocalizableText }[];
}

/** The end of a turn, drawn as a line. */
export interface TurnEndEntry extends EntryBase {
  readonly kind: 'turn_end';
  readonly turnId: string;
}

export type Entry = MessageEntry | ToolEntry | PlanRecord | NoticeEntry | ErrorEntry | GapEntry | TurnEndEntry;

export interface Turn {
  readonly id: string;
  /** 1, 2, 3 … in order of their start. */
  readonly number: number;
  readonly origin: 'user' | 'agent';
  /** A message of another client began it, not the agent by itself. */
  elsewhere?: true;
  readonly startedAt: number;
  firstOutputAt?: number;
  endedAt?: number;
  /** Time during which the turn waited for the user, in milliseconds. */
  waitedMs?: number;
  /** When it waited for the user, ms since 1970; the latest ones. */
  waits?: { readonly from: number; until: number }[];
  stopReason?: StopReason;
  barrier?: Barrier;
  /**
   * Explains the end where the reason alone does not: a `TurnNote`, or the words of the agent or
   * the system.
   */
  note?: LocalizableText;
  /** Only with `error`: the turn did not fail, the agent was stopped while it ran. */
  interrupted?: true;
  cancelRequested?: true;
  /** The turn comes from a replay: how long it took is unknown, and mostly how it ended. */
  readonly replayed?: true;
  tokens?: number;
  tokenParts?: TokenParts;
  /** What the agent last said of its context and costs while the turn ran, or before the next one. */
  usage?: Usage;
  tools: number;
  readonly files: Set<string>;
  changes?: TurnChanges;
}

export interface Terminal {
  readonly id: string;
  command?: string;
  cwd?: string;
  /** The end of the output. */
  output: string;
  truncated: boolean;
  exit?: TerminalExit;
  released?: true;
  canCancel?: boolean;
  /** The turn in which it began. */
  readonly turnId?: string;
  /** It was ended because the user stopped that turn. */
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

/** A form or a page that waits for the user. */
export type Elicitation = {
  readonly id: string;
  readonly toolCallId?: string;
  readonly message: string;
  readonly at: number;
  /** The page is open in the browser; the agent reports when it is done. */
  readonly opened?: true;
} & ElicitationBody;

/** Stands for the mode among the ids of options; no option has it. */
export const MODE_ID = '';

export interface SessionState {
  readonly entries: Entry[];
  /** Which entries stand under which calls. */
  readonly nests: Nests;
  readonly turns: Turn[];
  readonly terminals: Map<string, Terminal>;
  readonly permissions: Map<string, Permission>;
  readonly elicitations: Map<string, Elicitation>;
  /** Background work. */
  background: readonly BackgroundItem[];
  /**
   * The state reported by the agent, if any: `running`, `idle`, `requires_action`, or another
   * value, which counts as busy.
   */
  agentState: string | undefined;
  /** The running turn. */
  turn: Turn | undefined;
  /**
   * Events may come from the replay of a reopened session: they are shown but have no other effect.
   */
  replaying: boolean;
  title: string | undefined;
  /** The user has given the title. */
  isNamed: boolean;
  commands: readonly AvailableCommand[];
  modes: readonly SessionMode[];
  mode: string | undefined;
  config: readonly ConfigOption[];
  /** The ids of the options that the user has set, and {@link MODE_ID}. */
  readonly chosen: Set<string>;
  /** What must be in force before the next prompt leaves. */
  wanted: readonly Choice[];
  /** The agent that the choices are made with; undefined in sessions of earlier versions. */
  choicesOf: string | undefined;
  /** The session was opened, and no prompt has left since. */
  isOpening: boolean;
  /** What the agent has said since the session was opened; the rest is from before. */
  confirmed: { readonly mode: boolean; readonly config: boolean };
  usage: Usage | undefined;
}

/** Subagents within subagents; what is deeper belongs to the last level. */
export const MAX_NESTING = 5;
/** Entries whose parent is not known yet; more stay where they are. */
const MAX_WAITING = 5000;

/** What stands under one call. */
interface Nest {
  readonly children: Entry[];
  /** Calls of all levels that have not ended, in the order in which they began. */
  readonly open: Set<ToolEntry>;
  /** The last one of them, as far as it is still open. */
  latest: ToolEntry | undefined;
  /** Calls of all levels. */
  calls: number;
  /** Levels below the call. */
  height: number;
}

/** What is told of the calls under a call. */
export interface NestCounts {
  readonly calls: number;
  /** How many of them have not ended. */
  readonly open: number;
  /** The title of one that has not ended. */
  readonly now?: string;
}

/**
 * What a subagent does belongs to the call that started it. Agents name that call by its id, so it may be unknown, come
 * later, or be part of a circle. The cost of an entry does not depend on how many there are.
 */
export class Nests {
  readonly #nests = new Map<ToolEntry, Nest>();
  readonly #parents = new Map<Entry, ToolEntry>();
  readonly #waiting = new Map<string, Entry[]>();
  #waitingCount = 0;

  /** Nothing is nested. */
  get isEmpty(): boolean {
    return this.#parents.size === 0;
  }

  parentOf(entry: Entry): ToolEntry | undefined {
    return this.#parents.get(entry);
  }

  /** The calls that an entry stands under, outermost first. */
  pathOf(entry: Entry): readonly ToolEntry[] {
    const path: ToolEntry[] = [];
    for (let at = this.#parents.get(entry); at; at = this.#parents.get(at)) path.push(at);
    return path.reverse();
  }

  /** What stands directly under a call, in the order in which it came. */
  childrenOf(entry: Entry): readonly Entry[] {
    return (entry.kind === 'tool' && this.#nests.get(entry)?.children) || [];
  }

  /** Undefined where nothing stands under the call. */
  countsOf(entry: ToolEntry): NestCounts | undefined {
    const nest = this.#nests.get(entry);
    if (!nest) return undefined;
    const { calls, open, latest } = nest;
    return { calls, open: open.size, now: latest && open.has(latest) && latest.title ? latest.title : undefined };
  }

  /**
   * An entry names its parent. The first parent stays.
   * @param parent undefined: not known yet
   * @param isOpen the entry is a call that has not ended
   * @returns the entries that look different now
   */
  put(entry: Entry, id: string, parent: ToolEntry | undefined, isOpen: boolean): readonly Entry[] {
    if (this.#parents.has(entry)) return [];
    if (parent) return this.#link(entry, parent, isOpen);
    const waiting = this.#waiting.get(id) ?? [];
    if (this.#waitingCount >= MAX_WAITING || waiting.includes(entry)) return [];
    waiting.push(entry);
    this.#waiting.set(id, waiting);
    this.#waitingCount++;
    return [];
  }

  /**
   * A call is new: what waited for it stands under it from now on.
   * @returns the entries that look different now
   */
  announce(id: string, parent: ToolEntry, isOpen: (entry: Entry) => boolean): readonly Entry[] {
    const waiting = this.#waiting.get(id);
    if (!waiting) return [];
    this.#waiting.delete(id);
    this.#waitingCount -= waiting.length;
    return waiting.flatMap((entry) => (this.#parents.has(entry) ? [] : this.#link(entry, parent, isOpen(entry))));
  }

  /**
   * A nested call has changed.
   * @returns the calls that it stands under, if they look different now
   */
  touch(entry: ToolEntry, isOpen: boolean, isRenamed: boolean): readonly ToolEntry[] {
    if (!this.#parents.has(entry)) return [];
    const path = this.pathOf(entry);
    let isSame = true;
    for (const one of path) {
      const nest = this.#nestOf(one);
      const { open } = nest;
      if (open.has(entry) === isOpen) {
        isSame &&= !(isRenamed && nest.latest === entry);
        continue;
      }
      isSame = false;
      if (isOpen) {
        open.add(entry);
        nest.latest = entry;
      } else open.delete(entry);
    }
    return isSame ? [] : path;
  }

  /** Ids start over: what still waits stays where it is. */
  renew(): void {
    this.#waiting.clear();
    this.#waitingCount = 0;
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

/** An entry with the number of calls that it stands under. */
export interface PlacedEntry {
  readonly entry: Entry;
  readonly depth: number;
}

/** Returns all entries, what is nested directly after its call. */
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
