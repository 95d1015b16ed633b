// What a session is at one moment. Mutable, owned by its reducer alone; everybody else reads.
import type {
  AvailableCommand,
  ConfigOption,
  ContentBlock,
  PermissionOption,
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
} from '../events/event';
import type { ElicitationBody } from '../events/form';

interface EntryBase {
  /** Unique in the session and stable. */
  readonly id: string;
  /** Position in the transcript. It moves only where a gap before it is filled with more than one entry. */
  index: number;
  /** The turn it belongs to; absent for what came outside of any. */
  readonly turnId?: string;
  /** It came after its turn had ended. */
  readonly late?: true;
  readonly at: number;
}

export interface MessageEntry extends EntryBase {
  readonly kind: MessageRole;
  messageId?: string;
  /** It was sent from here, as this message of the queue. */
  readonly promptId?: string;
  /** Neighbouring text is one block. */
  readonly content: ContentBlock[];
  /** Characters dropped from the front because the message passed the limit. */
  dropped: number;
  /** Time of the last chunk. */
  until: number;
}

export interface ToolEntry extends EntryBase {
  readonly kind: 'tool';
  readonly toolCallId: string;
  title: string;
  name?: string;
  toolKind: string;
  status: ToolStatus;
  content: readonly ToolContent[];
  locations: readonly ToolLocation[];
  rawInput?: unknown;
  rawOutput?: unknown;
  canCancel?: boolean;
  /** The subagent that this entry shows: its session. */
  readonly subagentId?: string;
  endedAt?: number;
  /** How much of its time questions about it were open, in milliseconds. */
  waitedMs?: number;
  /** How the last permission for it was answered. */
  decision?: {
    readonly outcome: 'selected' | 'cancelled';
    readonly by: string;
    readonly name?: string;
    readonly kind?: string;
  };
}

export interface PlanRecord extends EntryBase {
  readonly kind: 'plan';
  readonly planId: string;
  entries: readonly PlanEntry[];
  /** In place of entries: the plan as Markdown, or where it lies. */
  markdown?: string;
  uri?: string;
  /** The agent took it back. */
  removed?: true;
}

export interface NoticeEntry extends EntryBase {
  readonly kind: 'notice';
  severity: string;
  title: string;
  text: string;
  /** A longer text that opens on demand. */
  detail?: string;
  /** An update of a kind that we do not know, kept whole. */
  raw?: unknown;
  /** A button of the client's own. */
  readonly action?: { readonly id: string; readonly label: string };
  /** It says that the agent knows nothing of what stands above. */
  readonly beginsAnew?: true;
}

/** A message of a session from elsewhere, or a part of one, that is not there. */
export interface GapEntry extends EntryBase {
  readonly kind: 'gap';
  readonly gapId: string;
  text: string;
  state: GapState;
  /** Where the content is, of a gap in what was said here. */
  readonly remote?: RemoteContent;
}

export interface ErrorEntry extends EntryBase {
  readonly kind: 'error';
  readonly code: string;
  readonly text: string;
  readonly hint?: string;
  readonly stderr?: string;
  /** Ways to send the prompt of the turn again. */
  readonly actions?: readonly { readonly id: string; readonly label: string }[];
}

/** The end of a turn, drawn as a rule. */
export interface TurnEndEntry extends EntryBase {
  readonly kind: 'turn_end';
  readonly turnId: string;
}

export type Entry = MessageEntry | ToolEntry | PlanRecord | NoticeEntry | ErrorEntry | GapEntry | TurnEndEntry;

export interface Turn {
  readonly id: string;
  /** 1, 2, 3 … in the order of their beginnings. */
  readonly number: number;
  readonly origin: 'user' | 'agent';
  readonly startedAt: number;
  firstOutputAt?: number;
  endedAt?: number;
  /** How much of its time it waited for the user, in milliseconds. */
  waitedMs?: number;
  stopReason?: StopReason;
  barrier?: Barrier;
  /** A sentence on why it ended so, where the reason alone does not tell. */
  note?: string;
  /** With `error`: nothing failed, the agent was ended while it ran. */
  interrupted?: true;
  cancelRequested?: true;
  /** Known from the replay of an old session: nothing is known of its end. */
  readonly replayed?: true;
  tokens?: number;
  tokenParts?: TokenParts;
  tools: number;
  readonly files: Set<string>;
}

export interface Terminal {
  readonly id: string;
  command?: string;
  cwd?: string;
  /** The last part of the output. */
  output: string;
  truncated: boolean;
  exit?: TerminalExit;
  released?: true;
  canCancel?: boolean;
}

export interface Permission {
  readonly id: string;
  readonly toolCallId?: string;
  readonly title: string;
  readonly description?: string;
  readonly command?: { readonly line: string; readonly cwd?: string };
  readonly options: readonly PermissionOption[];
  readonly at: number;
}

/** A form or a page that waits for the user. */
export type Elicitation = {
  readonly id: string;
  readonly toolCallId?: string;
  readonly message: string;
  readonly at: number;
  /** The page is open in the browser; the agent says when it is done. */
  readonly opened?: true;
} & ElicitationBody;

export interface SessionState {
  readonly entries: Entry[];
  readonly turns: Turn[];
  readonly terminals: Map<string, Terminal>;
  readonly permissions: Map<string, Permission>;
  readonly elicitations: Map<string, Elicitation>;
  /** What goes on beside the turns. */
  background: readonly BackgroundItem[];
  /** What the agent says of itself, where it does: `running`, `idle`, `requires_action`, or another word for busy. */
  agentState: string | undefined;
  /** The turn that runs now. */
  turn: Turn | undefined;
  /** What comes now may be the past of a session that was opened again: it is shown, and nothing else happens because of it. */
  replaying: boolean;
  title: string | undefined;
  commands: readonly AvailableCommand[];
  modes: readonly SessionMode[];
  mode: string | undefined;
  config: readonly ConfigOption[];
  usage: Usage | undefined;
}
