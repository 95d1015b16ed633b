// What the panel shows, as plain JSON: the session, the items of its transcript and their contents.
import type {
  AvailableCommand,
  ConfigOption,
  ContentBlock,
  PermissionOption,
  PermissionRuleOffer,
  PlanEntry,
  SessionMode,
  TokenParts,
  ToolLocation,
  ToolStatus,
  Usage,
} from '../session/events/content';
import type { Barrier, StopReason } from '../session/events/event';
import type { ElicitationBody } from '../session/events/form';

export type SessionPhase =
  | 'idle'
  | 'starting'
  | 'initializing'
  | 'authRequired'
  | 'ready'
  | 'running'
  | 'requiresAction'
  | 'unresponsive'
  | 'recovering'
  | 'exited'
  | 'failed';

export type Liveness = 'live' | 'not_found' | 'unknown';

/**
 * The stages of starting a session, in order; `spawn` for a local process, `connect` for a remote
 * agent.
 */
export const STAGES = ['resolve', 'spawn', 'connect', 'initialize', 'sign-in', 'session', 'ready'] as const;
export type StageName = (typeof STAGES)[number];

/** A stage that has started. Times are in ms since 1970. */
export interface StageView {
  readonly name: StageName;
  readonly state: 'running' | 'done' | 'failed' | 'skipped';
  readonly startedAt: number;
  readonly endedAt?: number;
  /** When the stage times out, if it has a deadline. */
  readonly deadlineAt?: number;
}

/** A button that the host offers next to a failure or a state. Only the host interprets the id. */
export interface ActionView {
  readonly id: string;
  readonly label: string;
  readonly primary?: true;
}

export interface ErrorView {
  readonly code: string;
  /** What happened, in one sentence. */
  readonly message: string;
  /** What the user can do, in one sentence. */
  readonly hint?: string;
  /** The stage that failed. */
  readonly stage?: StageName;
  /** The last lines of stderr. */
  readonly stderr?: string;
  readonly actions: readonly ActionView[];
}

export interface TurnView {
  readonly id: string;
  readonly number: number;
  readonly origin: 'user' | 'agent';
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Time during which the turn waited for the user, in milliseconds. */
  readonly waitedMs?: number;
  readonly stopReason?: StopReason;
  readonly barrier?: Barrier;
  /** Who began it, if it was not the user of this client. */
  readonly starter?: string;
  /** What showed that it was over, in words. */
  readonly ending?: string;
  readonly note?: string;
  /** Only with `error`: the turn did not fail, the agent was stopped while it ran. */
  readonly interrupted?: true;
  /** The agent ended the turn without any message or tool call. */
  readonly isEmpty?: true;
  readonly tokens?: number;
  readonly tokenParts?: TokenParts;
  readonly tools: number;
  readonly files: number;
  /** What changed on disk during the turn; while it runs, so far. */
  readonly changes?: ChangesCount;
}

/** How far the plan of the running turn is. */
export interface PlanProgressView {
  /** Transcript index of the plan. */
  readonly index: number;
  readonly done: number;
  readonly total: number;
  /** The step that the agent is at, or the next one. */
  readonly step: string;
}

/** Changed files and lines. */
export interface ChangesCount {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  /** Why more may have changed, as a sentence. */
  readonly incomplete?: string;
  /** Differs when the list of the files does: then it is requested again where it is shown. */
  readonly version: number;
}

/** A changed file in the list of a turn, or of everything that waits for review. */
export interface ChangedFileView {
  /** Identifies the file in its list: its absolute path, as in the `path` of a {@link DiffView}. */
  readonly id: string;
  /** The path as displayed. */
  readonly label: string;
  /** Where it was, as displayed, if it was renamed. */
  readonly oldLabel?: string;
  readonly change: 'added' | 'modified' | 'deleted' | 'renamed';
  readonly added: number;
  readonly removed: number;
  /** No lines to count: not text, or too large. */
  readonly isBinary?: true;
  readonly state: 'unreviewed' | 'kept' | 'undone' | 'conflict';
  /** The user changed it too. */
  readonly alsoYours?: true;
  /**
   * Listed after the others: nothing that the agent did named the file, or it may have been there
   * before the turn.
   */
  readonly apart?: 'unnamed' | 'was-there';
  /** Transcript index of the last tool call that names the file. */
  readonly index?: number;
}

/** Work on changed files that the user started. Meanwhile no other is accepted. */
export interface ChangesWorkView {
  readonly kind: 'keep' | 'undo' | 'restore';
  /** Files that are done, and all of them, once they are counted. */
  readonly done?: number;
  readonly total?: number;
}

export interface QueueItemView {
  readonly id: string;
  readonly text: string;
  readonly attachments: readonly AttachmentView[];
  readonly state: 'queued' | 'sending' | 'accepted' | 'failed' | 'paused';
  /** Why the message is waiting or failed, as a label. */
  readonly reason?: string;
}

export interface PermissionView {
  readonly id: string;
  readonly toolCallId?: string;
  readonly title: string;
  readonly description?: string;
  /** What would run, in order. */
  readonly commands?: readonly { readonly line: string; readonly cwd?: string }[];
  /** What would be written to files, if no diff of the tool call shows it. */
  readonly texts?: readonly { readonly path: string; readonly text: string }[];
  /** The raw input, if it says more than that; `isUnknown`: nothing else says what the call does. */
  readonly input?: { readonly json: string; readonly isUnknown?: boolean };
  readonly options: readonly PermissionOption[];
  /** It is about one change of a file, which the user can edit first. */
  readonly canEdit?: true;
  /** A rule that can be made of it. */
  readonly ruleOffer?: PermissionRuleOffer;
  /** Transcript index of the entry that the request is about. */
  readonly index: number;
  /** The title of the call that started the subagent that asks. */
  readonly by?: string;
}

/** A form or a page that waits for the user. */
export type ElicitationView = {
  readonly id: string;
  readonly message: string;
  /** The label of the tool call it belongs to. */
  readonly tool?: string;
  /** The page is open in the browser and the agent was told. */
  readonly opened?: true;
} & ElicitationBody;

/** Background work. `kind` is `tool_call`, `terminal`, `subagent` or a name of the agent's own. */
export interface BackgroundView {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
  /** What to stop; absent if the agent does not support it. */
  readonly stop?: StopTarget['kind'];
}

/**
 * Something that can be stopped on its own: a tool call, a terminal, or a subagent by its session
 * id.
 */
export interface StopTarget {
  readonly kind: 'tool' | 'terminal' | 'subagent';
  readonly id: string;
}

/** An attachment of the next message. */
export interface AttachmentView {
  readonly id: string;
  readonly kind: 'file' | 'selection' | 'image' | 'other';
  readonly label: string;
  readonly detail?: string;
  /** The size of what is sent; absent: only an address, of what the agent reads itself. */
  readonly bytes?: number;
  /** A thumbnail of a pasted image, made by the webview: a `data:` URL. */
  readonly thumbnail?: string;
}

/** Something that `@` offers in the composer. */
export interface MentionView {
  readonly id: string;
  readonly kind:
    | 'file'
    | 'folder'
    | 'selection'
    | 'problems'
    | 'changes'
    | 'commit'
    | 'symbol'
    | 'session'
    | 'terminal';
  /** As it is written after the `@`, and as its attachment is called. */
  readonly label: string;
  readonly description?: string;
}

/** A call of one of the editor's own tools. */
export interface EditorToolView {
  /** Its name, such as `get_diagnostics`. */
  readonly tool: string;
  /** The symbol, the words or the path that it was asked for. */
  readonly subject?: string;
  /** What it found; absent where it does not count. */
  readonly result?: { readonly errors: number; readonly warnings: number } | { readonly found: number };
}

export interface DiffHunk {
  /** 1-based first lines. */
  readonly oldStart: number;
  readonly newStart: number;
  /** Each begins with ' ', '+' or '-'. */
  readonly lines: readonly string[];
}

export interface DiffView {
  readonly path: string;
  /** The path as displayed: relative to the session's root if inside it. */
  readonly label: string;
  readonly isNew: boolean;
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly DiffHunk[];
  /** The position of these lines in the file is unknown. */
  readonly unnumbered?: true;
  /** Too large to show here: lines are left out before the hunk with this index. The editor shows all of it. */
  readonly truncated?: { readonly hunk: number; readonly lines: number };
  /** Too many changes to compare here: no counts, and the hunks are the ends of the new text. */
  readonly tooMany?: true;
  /** After the call the file was not what is shown here (`openWritten`). */
  readonly writtenDifferently?: true;
}

export interface TerminalView {
  readonly id: string;
  readonly command?: string;
  /** The end of the raw output with ANSI escapes. */
  readonly output: string;
  readonly truncated: boolean;
  readonly running: boolean;
  readonly exitCode?: number;
  readonly signal?: string;
  /** It was ended because the user stopped the turn. */
  readonly isStopped?: true;
  /** The client runs the terminal, so it can be opened. */
  readonly openable: boolean;
}

export type ToolContentView =
  /** `cut`: the host has more of the text (`openOutput`). */
  | { readonly type: 'content'; readonly block: BlockView; readonly cut?: true }
  | { readonly type: 'diff'; readonly diff: DiffView }
  | { readonly type: 'terminal'; readonly terminal: TerminalView }
  | { readonly type: 'raw'; readonly kind: string; readonly json: string };

/** A content block as displayed: bounded, and JSON text if its kind is unknown. */
export type BlockView =
  | Exclude<ContentBlock, { type: 'unknown' | 'resource' }>
  | {
      readonly type: 'resource';
      readonly uri: string;
      readonly text?: string;
      readonly mimeType?: string;
      /** The size of binary content, which stays in the host. */
      readonly bytes?: number;
    }
  | {
      readonly type: 'unknown';
      readonly kind: string;
      readonly json: string;
      /** Meant for the agent only; `json` may be its plain text. */
      readonly forAgent?: true;
    }
  | { readonly type: 'tooLarge'; readonly kind: 'image' | 'audio'; readonly bytes: number };

/** The answer to a tool call's permission request; `selected`: an option that neither allows nor rejects. */
export type DecisionView =
  /** `rule`: the rule that answered, as one line. */
  | { readonly outcome: 'allowed' | 'rejected'; readonly rule?: string }
  | { readonly outcome: 'dismissed' | 'withdrawn' }
  | { readonly outcome: 'selected'; readonly name: string };

/** The calls of the subagent that a call started. */
export interface NestedView {
  /** Calls of all levels. */
  readonly calls: number;
  /** How many of them have not ended. */
  readonly open: number;
  /** The title of one of those. */
  readonly now?: string;
}

interface ItemBase {
  readonly id: string;
  /** Transcript indexes of the calls that it is nested in, outermost first. */
  readonly path?: readonly number[];
  readonly turnId?: string;
  readonly late?: true;
  readonly at: number;
}

/** An item of the transcript. Items are only appended; `put` with a known index replaces one. */
export type ItemView =
  | (ItemBase & {
      readonly kind: 'user' | 'agent' | 'thought';
      readonly content: readonly BlockView[] /** Milliseconds between first and last chunk. */;
      readonly duration: number;
      readonly dropped?: number;
      /** A message of the user that another client sent. */
      readonly elsewhere?: true;
      /** Of a user message: the files can be restored to before its turn (`restoreCheckpoint`). */
      readonly canRestore?: true;
      /** Of a user message: a new session can continue from before it (`continueFrom`). */
      readonly canEdit?: true;
    })
  | (ItemBase & {
      readonly kind: 'tool';
      readonly title: string;
      readonly name?: string;
      /** read edit delete move search execute think fetch switch_mode other */
      readonly toolKind: string;
      readonly status: ToolStatus;
      readonly content: readonly ToolContentView[];
      readonly locations: readonly (ToolLocation & { readonly label: string })[];
      /** The lines that were read or found in its only location: `10–20`. */
      readonly lines?: string;
      /** Raw input or output exists and is sent on request (`details`). */
      readonly hasRaw: boolean;
      readonly rawInput?: string;
      readonly rawOutput?: string;
      readonly endedAt?: number;
      /** Time during which questions about the call were open, in milliseconds. */
      readonly waitedMs?: number;
      /** What to stop; absent if the call is not running or the agent does not support it. */
      readonly stop?: StopTarget;
      readonly decision?: DecisionView;
      /** Absent: nothing is nested in it. */
      readonly nested?: NestedView;
      /** It is a tool of the editor. */
      readonly editor?: EditorToolView;
    })
  | (ItemBase & {
      readonly kind: 'plan';
      readonly entries: readonly PlanEntry[];
      /** Instead of entries: a text, or the URI of the plan. */
      readonly markdown?: string;
      readonly uri?: string;
      /** The agent removed the plan. */
      readonly removed?: true;
    })
  | (ItemBase & {
      readonly kind: 'notice';
      readonly severity: string;
      readonly title: string;
      readonly text: string;
      /** A longer text, shown on demand. */
      readonly detail?: string;
      readonly json?: string;
      /** A button of the host. */
      readonly action?: ActionView;
    })
  | (ItemBase & {
      readonly kind: 'error';
      readonly code: string;
      readonly text: string;
      readonly hint?: string;
      readonly stderr?: string;
      /** Ways to resend the prompt of the turn, while it is the latest. */
      readonly actions?: readonly ActionView[];
    })
  /** `retryId`: the id for requesting the message again. */
  | (ItemBase & {
      readonly kind: 'gap';
      readonly text: string;
      readonly loading?: true;
      /** The message can be requested (`retryGap`). */
      readonly retryId?: string;
      /** The message has not been requested yet. */
      readonly unloaded?: true;
    })
  | (ItemBase & { readonly kind: 'turn_end'; readonly turn: TurnView });

/** What is offered while no agent but the demo is configured. */
export interface FirstUseView {
  /** Agents that are installed on this machine. */
  readonly agents: readonly { readonly id: string; readonly name: string; readonly version?: string }[];
  /** More may be found. */
  readonly isSearching: boolean;
}

/** What an empty conversation says of its folder. */
export interface WelcomeView {
  /** Its name; absent without a workspace. */
  readonly folder?: string;
  readonly branch?: string;
  /** The sessions that were used there last, newest first; `at`: in ms since 1970. */
  readonly sessions: readonly {
    readonly key: string;
    readonly title: string;
    readonly agent: string;
    readonly at: number;
    /** Number of files that its turns changed. */
    readonly files: number;
  }[];
}

/** Some of a list, and how many there are. */
export interface AwayList<T> {
  readonly shown: readonly T[];
  readonly total: number;
}

/**
 * What happened in a session while nobody looked at it. Made from events. Indices are those of
 * transcript items.
 */
export interface AwayView {
  /** When the first of it happened, in ms since 1970, and where. */
  readonly since: number;
  readonly index: number;
  /** Turns that ended. */
  readonly turns: number;
  readonly files: AwayList<{
    readonly path: string;
    readonly label: string;
    readonly added: number;
    readonly removed: number;
    readonly index?: number;
  }>;
  /** `failed`: the call failed, and there is no exit code. */
  readonly commands: AwayList<{
    readonly line: string;
    readonly index: number;
    readonly state: 'running' | 'done' | 'failed';
    readonly exitCode?: number;
    readonly signal?: string;
  }>;
  /** Requests that a rule answered. */
  readonly decisions: AwayList<{
    readonly title: string;
    readonly rule: string;
    readonly outcome: 'allowed' | 'rejected';
    readonly index: number;
  }>;
  readonly cost?: { readonly amount: number; readonly currency: string };
  /** Of the turns that ended. */
  readonly tokens?: number;
}

/** Everything other than the transcript. */
export interface SessionView {
  readonly key: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly title?: string;
  readonly phase: SessionPhase;
  /** A label for the phase: "Waiting for you", "Working: Bash for 4 min", "Connecting to Claude". */
  readonly status: string;
  readonly liveness: Liveness;
  readonly stages: readonly StageView[];
  readonly error?: ErrorView;
  /** The running turn. */
  readonly turn?: TurnView;
  readonly turnCount: number;
  /** The plan of the running turn, while a step of it is left. */
  readonly plan?: PlanProgressView;
  /** The latest turn, if it failed and its prompt can be sent again (`sendAgain`). */
  readonly failedTurnId?: string;
  readonly queue: readonly QueueItemView[];
  readonly queuePaused?: string;
  readonly permissions: readonly PermissionView[];
  readonly elicitations: readonly ElicitationView[];
  readonly background: readonly BackgroundView[];
  readonly commands: readonly AvailableCommand[];
  readonly modes: readonly SessionMode[];
  readonly mode?: string;
  readonly config: readonly ConfigOption[];
  readonly usage?: Usage;
  readonly attachments: readonly AttachmentView[];
  /** The session can be continued as a second one. */
  readonly canFork: boolean;
  /** The agent can be asked whether it still has the session. */
  readonly canCheckStatus: boolean;
  /** Images can be pasted. */
  readonly canAttachImages: boolean;
  readonly canAttachAudio: boolean;
  /** Other files can be pasted. */
  readonly canAttachFiles: boolean;
  /** What waits for review in the session; absent: nothing. */
  readonly review?: ChangesCount;
  /** Present while files are kept, undone or restored. */
  readonly changesWork?: ChangesWorkView;
  /** A sentence above the composer, for example that the demo agent is scripted. */
  readonly banner?: string;
}
