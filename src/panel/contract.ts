// The contract between extension host and webview: plain JSON, one union per direction. The host
// owns the session; the webview owns what is expanded, scrolled and half typed. The webview
// acknowledges revisions, which keeps the host from flooding it.
import type {
  AvailableCommand,
  ConfigOption,
  ContentBlock,
  PermissionOption,
  PermissionRuleOffer,
  PlanEntry,
  RateLimit,
  SessionMode,
  TokenParts,
  ToolLocation,
  ToolStatus,
  Usage,
} from '../session/events/content';
import type { Barrier, StopReason } from '../session/events/event';
import type { ElicitationBody } from '../session/events/form';
import type { FormProblem } from './checkForm';
import type { ChangesScope } from './fromWebview';

/** Incremented for incompatible changes. A webview of another version is asked to reload. */
export const CONTRACT_VERSION = 2;

export type Op =
  /** Sets the item at `index`, or appends it if `index` is the number of items. */
  | { readonly op: 'put'; readonly index: number; readonly item: ItemView }
  /** Appends to the last text block, or adds one. `until`: time of the last chunk. */
  | { readonly op: 'append'; readonly index: number; readonly text: string; readonly until: number }
  /** Adds blocks to a message that has `from` of them. */
  | {
      readonly op: 'blocks';
      readonly index: number;
      readonly from: number;
      readonly blocks: readonly BlockView[];
      readonly until: number;
    }
  /** Appends to a terminal after removing `drop` characters from its start. */
  | { readonly op: 'terminal'; readonly terminalId: string; readonly text: string; readonly drop: number }
  /** Null clears a field. */
  | { readonly op: 'session'; readonly patch: { readonly [K in keyof SessionView]?: SessionView[K] | null } };

export interface DraftView {
  readonly text: string;
  readonly revision: number;
}

/** The first visible item, and the distance of its top from the top edge, px. */
export interface Anchor {
  readonly index: number;
  readonly offset: number;
}

/** The beginning of a prompt, for the line over the transcript. */
export interface PromptHead {
  readonly turnId: string;
  readonly index: number;
  readonly text: string;
}

export type ToWebview =
  /** Replaces everything. `from`: index of the first item. */
  | {
      readonly type: 'snapshot';
      readonly version: number;
      readonly revision: number;
      readonly session: SessionView;
      readonly total: number;
      readonly from: number;
      readonly items: readonly ItemView[];
      /** What the user said in the turn of the first item, if that is before it. */
      readonly prompt?: PromptHead | undefined;
      /** Runs of nested items: first and last index of each. */
      readonly nested?: readonly (readonly [number, number])[];
      readonly draft: DraftView;
      /** Absent at the end. */
      readonly anchor?: Anchor;
    }
  | { readonly type: 'update'; readonly revision: number; readonly ops: readonly Op[] }
  | { readonly type: 'page'; readonly revision: number; readonly from: number; readonly items: readonly ItemView[] }
  /** The response to `nested`. The first item is child number `from` of `total`. */
  | {
      readonly type: 'nested';
      readonly revision: number;
      readonly index: number;
      readonly from: number;
      readonly total: number;
      readonly items: readonly { readonly index: number; readonly item: ItemView }[];
    }
  /** `revision`: of the draft without the message. */
  | { readonly type: 'accepted'; readonly clientId: string; readonly revision: number }
  | ({ readonly type: 'draft'; readonly key: string } & DraftView)
  /** `clientId`: of the rejected message; `id`: of the question. */
  | { readonly type: 'rejected'; readonly clientId?: string; readonly id?: string; readonly reason: string }
  | { readonly type: 'insert'; readonly text: string }
  /** `question`: or else the composer. `previousPrompt`, `nextPrompt`: relative to the focus. */
  | {
      readonly type: 'focus';
      readonly on: 'composer' | 'question' | 'find' | 'timeline' | 'previousPrompt' | 'nextPrompt';
    }
  | { readonly type: 'formRefused'; readonly id: string; readonly problems: Readonly<Record<string, FormProblem>> }
  | {
      readonly type: 'changes';
      readonly scope: ChangesScope;
      readonly version: number;
      readonly total: number;
      readonly from: number;
      readonly files: readonly ChangedFileView[];
    }
  | { readonly type: 'mentions'; readonly query: string; readonly offers: readonly MentionView[] }
  | { readonly type: 'prompts'; readonly prompts: readonly PromptView[] }
  /** What can be attached from the active editor. */
  | { readonly type: 'activeEditor'; readonly offer: MentionView | null }
  /** Whether a turn's activity is collapsed to one line. */
  | { readonly type: 'focusView'; readonly on: boolean }
  | { readonly type: 'firstUse'; readonly offers: FirstUseView | null }
  /** Null: nothing happened, or it was dismissed. */
  | { readonly type: 'away'; readonly key: string; readonly view: AwayView | null }
  /** Branch of the session's worktree. Null: no worktree. */
  | { readonly type: 'worktree'; readonly key: string; readonly branch: string | null }
  | { readonly type: 'welcome'; readonly key: string; readonly welcome: WelcomeView }
  /** Entries with new numbers of matches. `isNew`: replaces earlier ones. */
  | {
      readonly type: 'found';
      readonly id: number;
      readonly counts: readonly (readonly [index: number, count: number])[];
      readonly isDone: boolean;
      readonly isNew?: true;
      /** Why the search ended. */
      readonly problem?: 'invalid' | 'slow';
    }
  /** The response to `findIn`: for each text, alternating start and length of matches. */
  | {
      readonly type: 'foundIn';
      readonly id: number;
      readonly request: number;
      readonly ranges: readonly (readonly number[])[];
    }
  /** For the clipboard, as Markdown and rich text. */
  | { readonly type: 'clipboard'; readonly text: string; readonly html: string }
  | ({ readonly type: 'timeline'; readonly id: number } & TimelineView)
  | { readonly type: 'chime' }
  | { readonly type: 'reveal'; readonly index: number };

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

/** In order. `spawn`: local process; `connect`: remote agent. */
export const STAGES = ['resolve', 'spawn', 'connect', 'initialize', 'sign-in', 'session', 'ready'] as const;
export type StageName = (typeof STAGES)[number];

/** Times in ms since 1970. */
export interface StageView {
  readonly name: StageName;
  readonly state: 'running' | 'done' | 'failed' | 'skipped';
  readonly startedAt: number;
  readonly endedAt?: number;
}

/** A button. Only the host interprets the id. */
export interface ActionView {
  readonly id: string;
  readonly label: string;
  readonly primary?: true;
  readonly detail?: string | undefined;
}

export interface ErrorView {
  readonly code: string;
  readonly message: string;
  /** What the user can do, one sentence. */
  readonly hint?: string;
  readonly stage?: StageName;
  readonly stderr?: string;
  readonly actions: readonly ActionView[];
}

export interface TurnView {
  readonly id: string;
  readonly number: number;
  readonly origin: 'user' | 'agent';
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Time spent waiting for the user, ms. */
  readonly waitedMs?: number;
  readonly stopReason?: StopReason;
  readonly barrier?: Barrier;
  /** Who started it, if not the user. */
  readonly starter?: string;
  /** How its end was recognized, in words. */
  readonly ending?: string;
  readonly note?: string;
  /** With `error`: the agent was stopped. */
  readonly interrupted?: true;
  /** No message and no tool call. */
  readonly isEmpty?: true;
  readonly tokens?: number;
  readonly tokenParts?: TokenParts;
  readonly tools: number;
  readonly files: number;
  readonly changes?: ChangesCount;
}

export interface PlanProgressView {
  readonly index: number;
  readonly done: number;
  readonly total: number;
  readonly step: string;
}

export interface ChangesCount {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  /** Why more may have changed, one sentence. */
  readonly incomplete?: string;
  /** Number of files whose undo can be redone: of the turn, or of the last undo in the review. */
  readonly redoable?: number;
  /** Changes with the list. */
  readonly version: number;
}

export interface ChangedFileView {
  /** Absolute path, as in {@link DiffView}. */
  readonly id: string;
  readonly label: string;
  readonly oldLabel?: string;
  readonly change: 'added' | 'modified' | 'deleted' | 'renamed';
  readonly added: number;
  readonly removed: number;
  /** Not text, or too large. */
  readonly isBinary?: true;
  readonly state: 'unreviewed' | 'kept' | 'undone' | 'conflict';
  readonly alsoYours?: true;
  /** Whether its last undo can be redone. */
  readonly canRedo?: true;
  /** Listed last: not named by the agent, or possibly there before. */
  readonly apart?: 'unnamed' | 'was-there';
  /** Index of the last call that names the file. */
  readonly index?: number;
}

/** The running action; no other is accepted until it ends. */
export interface ChangesWorkView {
  readonly kind: 'keep' | 'undo' | 'redo' | 'restore';
  /** Number of files, once counted. */
  readonly done?: number;
  readonly total?: number;
}

export interface QueueItemView {
  readonly id: string;
  readonly text: string;
  readonly attachments: readonly AttachmentView[];
  readonly state: 'queued' | 'sending' | 'accepted' | 'failed' | 'paused';
  /** Why it waits or failed. */
  readonly reason?: string;
  /** Whether it can be sent into the running turn, or why not. */
  readonly steer?: true | string;
}

export interface PermissionView {
  readonly id: string;
  readonly toolCallId?: string;
  readonly title: string;
  readonly description?: string;
  readonly commands?: readonly { readonly line: string; readonly cwd?: string }[];
  /** Contents of files that no diff of the call shows. */
  readonly texts?: readonly { readonly path: string; readonly text: string }[];
  /** Raw input, if it adds information. `isUnknown`: nothing else describes the call. */
  readonly input?: { readonly json: string; readonly isUnknown?: boolean };
  readonly options: readonly PermissionOption[];
  readonly canEdit?: true;
  readonly ruleOffer?: PermissionRuleOffer;
  readonly index: number;
  /** The call that started the subagent that asks. */
  readonly by?: string;
}

export type ElicitationView = {
  readonly id: string;
  readonly message: string;
  readonly tool?: string;
  /** The page was opened, and the agent was notified. */
  readonly opened?: true;
} & ElicitationBody;

/** `kind`: `tool_call`, `terminal`, `subagent` or an agent-specific name. */
export interface BackgroundView {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
  /** Absent if it can't be stopped. */
  readonly stop?: StopTarget['kind'];
}

/** Subagents are identified by session id. */
export interface StopTarget {
  readonly kind: 'tool' | 'terminal' | 'subagent';
  readonly id: string;
}

export interface AttachmentView {
  readonly id: string;
  readonly kind: 'file' | 'selection' | 'image' | 'other';
  readonly label: string;
  readonly detail?: string;
  /** Absent if only an address is sent. */
  readonly bytes?: number;
  /** A `data:` URL made by the webview. */
  readonly thumbnail?: string;
}

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
  /** As written after the `@`. */
  readonly label: string;
  readonly description?: string;
  /** Of a category of mentions: the text that choosing it puts after the `@`. */
  readonly prefix?: string;
}

export interface PromptView extends AvailableCommand {
  readonly source: 'workspace' | 'user';
  readonly text: string;
}

export interface EditorToolView {
  readonly tool: string;
  readonly subject?: string;
  readonly result?: { readonly errors: number; readonly warnings: number } | { readonly found: number };
}

export interface DiffHunk {
  /** 1-based. */
  readonly oldStart: number;
  readonly newStart: number;
  /** Each starts with ' ', '+' or '-'. */
  readonly lines: readonly string[];
}

export interface DiffView {
  readonly path: string;
  /** Relative to the session's root if inside it. */
  readonly label: string;
  readonly isNew: boolean;
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly DiffHunk[];
  /** Line numbers are unknown. */
  readonly unnumbered?: true;
  /** Lines left out before the hunk with this index. */
  readonly truncated?: { readonly hunk: number; readonly lines: number };
  /** Too large to compare: no counts; the hunks are the ends of the new text. */
  readonly tooMany?: true;
  /** The file on disk differed after the call. */
  readonly writtenDifferently?: true;
}

export interface TerminalView {
  readonly id: string;
  readonly command?: string;
  /** The tail, with ANSI escapes. */
  readonly output: string;
  readonly truncated: boolean;
  readonly running: boolean;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly isStopped?: true;
  readonly openable: boolean;
}

export type ToolContentView =
  /** `cut`: the host has more. */
  | { readonly type: 'content'; readonly block: BlockView; readonly cut?: true }
  | { readonly type: 'diff'; readonly diff: DiffView }
  | { readonly type: 'terminal'; readonly terminal: TerminalView }
  | { readonly type: 'raw'; readonly kind: string; readonly json: string };

/** Bounded; JSON for unknown kinds. */
export type BlockView =
  | Exclude<ContentBlock, { type: 'unknown' | 'resource' }>
  | {
      readonly type: 'resource';
      readonly uri: string;
      readonly text?: string;
      readonly mimeType?: string;
      /** Size of binary content, which stays in the host. */
      readonly bytes?: number;
    }
  | {
      readonly type: 'unknown';
      readonly kind: string;
      readonly json: string;
      readonly forAgent?: true;
    }
  | { readonly type: 'tooLarge'; readonly kind: 'image' | 'audio'; readonly bytes: number };

/** `selected`: an option that neither allows nor rejects. */
export type DecisionView =
  /** `rule`: the rule that decided. */
  | { readonly outcome: 'allowed' | 'rejected'; readonly rule?: string }
  | { readonly outcome: 'allowedEdited' | 'dismissed' | 'withdrawn' }
  | { readonly outcome: 'selected'; readonly name: string };

export interface NestedView {
  /** Of all levels. */
  readonly calls: number;
  readonly open: number;
  /** Title of an open call. */
  readonly now?: string;
}

interface ItemBase {
  readonly id: string;
  /** Enclosing calls, outermost first. */
  readonly path?: readonly number[];
  readonly turnId?: string;
  readonly late?: true;
  readonly at: number;
}

export type ItemView =
  | (ItemBase & {
      readonly kind: 'user' | 'agent' | 'thought';
      readonly content: readonly BlockView[] /** Milliseconds between first and last chunk. */;
      readonly duration: number;
      readonly dropped?: number;
      readonly elsewhere?: true;
      readonly canRestore?: true;
      readonly canEdit?: true;
      /** The user's edits of the change, which the message reports to the agent. */
      readonly edits?: DiffView;
    })
  | (ItemBase & {
      readonly kind: 'tool';
      readonly title: string;
      readonly name?: string;
      /** ACP tool kind: read edit delete move search execute think fetch switch_mode other */
      readonly toolKind: string;
      readonly status: ToolStatus;
      readonly content: readonly ToolContentView[];
      readonly locations: readonly (ToolLocation & { readonly label: string })[];
      /** Lines in its only location: `10–20`. */
      readonly lines?: string;
      /** Sent on request (`details`). */
      readonly hasRaw: boolean;
      readonly rawInput?: string;
      readonly rawOutput?: string;
      readonly endedAt?: number;
      /** Time spent waiting for the user, ms. */
      readonly waitedMs?: number;
      readonly stop?: StopTarget;
      readonly decision?: DecisionView;
      readonly nested?: NestedView;
      readonly editor?: EditorToolView;
    })
  | (ItemBase & {
      readonly kind: 'plan';
      readonly entries: readonly PlanEntry[];
      /** Replaces the entries. */
      readonly markdown?: string;
      readonly uri?: string;
      readonly removed?: true;
    })
  | (ItemBase & {
      readonly kind: 'notice';
      readonly severity: string;
      readonly title: string;
      readonly text: string;
      readonly detail?: string;
      readonly json?: string;
      readonly action?: ActionView;
    })
  | (ItemBase & {
      readonly kind: 'error';
      readonly code: string;
      readonly text: string;
      readonly hint?: string;
      readonly stderr?: string;
      readonly actions?: readonly ActionView[];
    })
  | (ItemBase & {
      readonly kind: 'gap';
      readonly text: string;
      readonly loading?: true;
      /** Id of a message that can be requested (`retryGap`). */
      readonly retryId?: string;
      /** Not requested yet. */
      readonly unloaded?: true;
    })
  | (ItemBase & { readonly kind: 'turn_end'; readonly turn: TurnView });

/** Offered while only the demo is configured. */
export interface FirstUseView {
  readonly agents: readonly { readonly id: string; readonly name: string; readonly version?: string }[];
  readonly isSearching: boolean;
}

export interface WelcomeView {
  readonly folder?: string;
  readonly isSelectable?: boolean;
  readonly branch?: string;
  /** The latest sessions; `at`: ms since 1970. */
  readonly sessions: readonly {
    readonly key: string;
    readonly title: string;
    readonly agent: string;
    readonly at: number;
    readonly files: number;
  }[];
}

export interface AwayList<T> {
  readonly shown: readonly T[];
  readonly total: number;
}

/** Summary of what happened while the session was not visible. */
export interface AwayView {
  /** Time (ms since 1970) and entry at which it starts. */
  readonly since: number;
  readonly index: number;
  readonly turns: number;
  readonly files: AwayList<{
    readonly path: string;
    readonly label: string;
    readonly added: number;
    readonly removed: number;
    readonly index?: number;
  }>;
  /** `failed`: without an exit code. */
  readonly commands: AwayList<{
    readonly line: string;
    readonly index: number;
    readonly state: 'running' | 'done' | 'failed';
    readonly exitCode?: number;
    readonly signal?: string;
  }>;
  readonly decisions: AwayList<{
    readonly title: string;
    readonly rule: string;
    readonly outcome: 'allowed' | 'rejected';
    readonly index: number;
  }>;
  readonly cost?: { readonly amount: number; readonly currency: string };
  readonly tokens?: number;
}

export interface SessionView {
  readonly key: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly title?: string;
  readonly phase: SessionPhase;
  /** For example “Waiting for you”, “Working: Bash for 4 min”. */
  readonly status: string;
  readonly liveness: Liveness;
  readonly stages: readonly StageView[];
  readonly error?: ErrorView;
  readonly turn?: TurnView;
  readonly turnCount: number;
  /** Of the running turn, until its last step. */
  readonly plan?: PlanProgressView;
  /** The latest turn, if it can be resent. */
  readonly failedTurnId?: string;
  readonly queue: readonly QueueItemView[];
  readonly queuePaused?: string;
  /** Whether the message in the composer can be sent into the running turn. */
  readonly canSteer: boolean;
  readonly permissions: readonly PermissionView[];
  readonly elicitations: readonly ElicitationView[];
  readonly background: readonly BackgroundView[];
  readonly commands: readonly AvailableCommand[];
  readonly modes: readonly SessionMode[];
  readonly mode?: string;
  readonly config: readonly ConfigOption[];
  readonly usage?: Usage;
  /** Of the user's account; may have been reset since. */
  readonly limits?: readonly RateLimit[];
  /** Suggested next message. `always`: with a screen reader too. */
  readonly suggestion?: { readonly text: string; readonly always: boolean };
  readonly attachments: readonly AttachmentView[];
  readonly canFork: boolean;
  readonly canCheckStatus: boolean;
  readonly canAttachImages: boolean;
  readonly canAttachAudio: boolean;
  readonly canAttachFiles: boolean;
  readonly review?: ChangesCount;
  /** Absolute paths of files to review; also absent if there are too many. */
  readonly waitingFiles?: readonly string[];
  readonly changesWork?: ChangesWorkView;
  /** Mode in which the agent starts, until the user has answered. */
  readonly startMode?: { readonly text: string; readonly actions: readonly ActionView[] };
  /** Shown above the composer, one sentence. */
  readonly banner?: string;
}

/** Times in ms since 1970. */
export interface TimelineTurn {
  /** From 1. */
  readonly number: number;
  readonly at: number;
  /** Absent while it runs. */
  readonly endedAt?: number;
  /** Index of its first entry, if requested. */
  readonly index?: number;
  readonly waits?: readonly { readonly from: number; readonly until: number }[];
  readonly tokens?: number;
  /** Context used at its end, 0 to 1. */
  readonly context?: number;
  readonly cost?: { readonly amount: number; readonly currency: string };
}

/** A call or subagent. Times in ms since 1970. */
export interface TimelineCall {
  readonly index: number;
  readonly at: number;
  readonly endedAt?: number;
  readonly kind: string;
  readonly status: string;
  /** First line, shortened. */
  readonly title: string;
  readonly turn?: number;
  readonly waitedMs?: number;
}

/** Replaces everything from the entry `from` on. */
export interface TimelineView {
  readonly from: number;
  readonly turns: readonly TimelineTurn[];
  readonly calls: readonly TimelineCall[];
  /** Clock of the host, ms since 1970. */
  readonly now: number;
  readonly isDone: boolean;
}

export type {
  AvailableCommand,
  ConfigOption,
  ConfigValue,
  ContentBlock,
  PermissionOption,
  PlanEntry,
  RateLimit,
  SessionMode,
  ToolLocation,
  ToolStatus,
  Usage,
} from '../session/events/content';
export type { Barrier, StopReason } from '../session/events/event';
export type { ElicitationBody, Form, FormField, FormOption, FormValue } from '../session/events/form';
export type {
  Begun,
  ChangesAction,
  ChangesScope,
  CodeAction,
  ElicitationAction,
  FindQuery,
  FromTurn,
  FromWebview,
  PageMessage,
  QueueAction,
  SendNow,
  SessionMessage,
} from './fromWebview';
export * from './limits';
