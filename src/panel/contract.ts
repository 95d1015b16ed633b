// The contract between the extension host and the webview: plain JSON, one union each way. The host owns the session; the webview owns what is folded, scrolled
// and half typed. Every message of the host carries a revision; the webview acknowledges, so that the host never floods a slow one.
import type {
  AvailableCommand,
  ConfigOption,
  ContentBlock,
  PermissionOption,
  PlanEntry,
  SessionMode,
  TokenParts,
  ToolLocation,
  ToolStatus,
  Usage,
} from '../session/events/content';
import type { Barrier, StopReason } from '../session/events/event';
import type { ElicitationBody } from '../session/events/form';
import type { ElicitationAction, QueueAction } from './actions';
import type { FormProblem } from './checkForm';

/** Raised when the two sides can no longer understand each other; a webview of another version is asked to reload. */
export const CONTRACT_VERSION = 2;

/** Characters of one message; what is larger belongs into a file. */
export const MAX_TEXT = 2_000_000;

/** Characters of a thumbnail, a `data:` address. */
export const MAX_THUMBNAIL = 8 * 1024;

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

/** The steps from a setting to a usable session, in their order; `spawn` for a program on this machine, `connect` for an agent on another. */
export const STAGES = ['resolve', 'spawn', 'connect', 'initialize', 'sign-in', 'session', 'ready'] as const;
export type StageName = (typeof STAGES)[number];

/** A stage that has begun. Times are milliseconds since 1970. */
export interface StageView {
  readonly name: StageName;
  readonly state: 'running' | 'done' | 'failed' | 'skipped';
  readonly startedAt: number;
  readonly endedAt?: number;
  /** When it is given up, where it has a deadline. */
  readonly deadlineAt?: number;
}

/** A button that the host offers next to a failure or a state. `command` ids are the host's own and mean nothing to the webview. */
export interface ActionView {
  readonly id: string;
  readonly label: string;
  readonly primary?: true;
}

export interface ErrorView {
  readonly code: string;
  /** What happened, one sentence. */
  readonly message: string;
  /** What can be done, one sentence. */
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
  /** How much of its time it waited for the user, in milliseconds. */
  readonly waitedMs?: number;
  readonly stopReason?: StopReason;
  readonly barrier?: Barrier;
  readonly note?: string;
  /** With `error`: nothing failed, the agent was ended while it ran. */
  readonly interrupted?: true;
  /** The agent ended it and had neither said nor done anything. */
  readonly isEmpty?: true;
  readonly tokens?: number;
  readonly tokenParts?: TokenParts;
  readonly tools: number;
  readonly files: number;
}

export interface QueueItemView {
  readonly id: string;
  readonly text: string;
  readonly attachments: readonly AttachmentView[];
  readonly state: 'queued' | 'sending' | 'accepted' | 'failed' | 'paused';
  /** Why it waits or failed, in words. */
  readonly reason?: string;
}

export interface PermissionView {
  readonly id: string;
  readonly toolCallId?: string;
  readonly title: string;
  readonly description?: string;
  /** A command that is asked for by itself. */
  readonly command?: { readonly line: string; readonly cwd?: string };
  readonly options: readonly PermissionOption[];
  /** Transcript index of the entry that shows what is asked for. */
  readonly index: number;
}

/** A form or a page in the browser that waits for the user. */
export type ElicitationView = {
  readonly id: string;
  readonly message: string;
  /** What tool call it belongs to, in words. */
  readonly tool?: string;
  /** The page is open in the browser, and the agent is told so. */
  readonly opened?: true;
} & ElicitationBody;

/** Something that goes on beside the turns. `kind` is `tool_call`, `terminal`, `subagent` or the agent's own word. */
export interface BackgroundView {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
  /** What to ask to stop; absent where the agent does not offer it. */
  readonly stop?: StopTarget['kind'];
}

/** Something that can be stopped alone: a tool call, a terminal, or a subagent by the id of its session. */
export interface StopTarget {
  readonly kind: 'tool' | 'terminal' | 'subagent';
  readonly id: string;
}

/** Something that goes with the next message. */
export interface AttachmentView {
  readonly id: string;
  readonly kind: 'file' | 'selection' | 'image' | 'other';
  readonly label: string;
  readonly detail?: string;
  /** A small picture of a pasted image, as the page made it: a `data:` address. */
  readonly thumbnail?: string;
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
  /** The path as shown: relative to the session's root where it lies inside. */
  readonly label: string;
  readonly isNew: boolean;
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly DiffHunk[];
  /** Nobody knows where in the file these lines stand. */
  readonly unnumbered?: true;
  /** Too large to show here; the editor shows it whole. */
  readonly truncated?: true;
  /** Too many changes to compare here: no hunks and no counts. */
  readonly tooMany?: true;
}

export interface TerminalView {
  readonly id: string;
  readonly command?: string;
  /** Raw output with ANSI escapes, the last part of it. */
  readonly output: string;
  readonly truncated: boolean;
  readonly running: boolean;
  readonly exitCode?: number;
  readonly signal?: string;
  /** The client runs it, so it can be opened in a real terminal. */
  readonly openable: boolean;
}

export type ToolContentView =
  /** `cut`: the host has more of its text (`openOutput`). */
  | { readonly type: 'content'; readonly block: BlockView; readonly cut?: true }
  | { readonly type: 'diff'; readonly diff: DiffView }
  | { readonly type: 'terminal'; readonly terminal: TerminalView }
  | { readonly type: 'raw'; readonly kind: string; readonly json: string };

/** A content block as shown: bounded, and what is not known comes as JSON text. */
export type BlockView =
  | Exclude<ContentBlock, { type: 'unknown' | 'resource' }>
  | {
      readonly type: 'resource';
      readonly uri: string;
      readonly text?: string;
      readonly mimeType?: string;
      /** Size of one that is no text; it stays with the host. */
      readonly bytes?: number;
    }
  | {
      readonly type: 'unknown';
      readonly kind: string;
      readonly json: string;
      /** Meant for the agent alone; `json` may be its plain text. */
      readonly forAgent?: true;
    };

interface ItemBase {
  readonly id: string;
  readonly turnId?: string;
  readonly late?: true;
  readonly at: number;
}

/** One thing in the transcript. Items are only ever appended; `put` with a known index replaces one. */
export type ItemView =
  | (ItemBase & {
      readonly kind: 'user' | 'agent' | 'thought';
      readonly content: readonly BlockView[] /** Milliseconds between first and last chunk. */;
      readonly duration: number;
      readonly dropped?: number;
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
      /** The lines that were read or found of its one place: `10–20`. */
      readonly lines?: string;
      /** There is raw input or output; it comes on request (`details`). */
      readonly hasRaw: boolean;
      readonly rawInput?: string;
      readonly rawOutput?: string;
      readonly endedAt?: number;
      /** How much of its time questions about it were open, in milliseconds. */
      readonly waitedMs?: number;
      /** What to ask to stop; absent where it does not run or the agent does not offer it. */
      readonly stop?: StopTarget;
      /** "allowed by you", "rejected by you", "withdrawn": how its permission was answered. */
      readonly decision?: string;
    })
  | (ItemBase & {
      readonly kind: 'plan';
      readonly entries: readonly PlanEntry[];
      /** In place of entries: a text, or where the plan lies. */
      readonly markdown?: string;
      readonly uri?: string;
      /** The agent took it back. */
      readonly removed?: true;
    })
  | (ItemBase & {
      readonly kind: 'notice';
      readonly severity: string;
      readonly title: string;
      readonly text: string;
      /** A longer text that opens on demand. */
      readonly detail?: string;
      readonly json?: string;
      /** A button of the host's own. */
      readonly action?: ActionView;
    })
  | (ItemBase & {
      readonly kind: 'error';
      readonly code: string;
      readonly text: string;
      readonly hint?: string;
      readonly stderr?: string;
      /** Ways to send the prompt of the turn again, while it is the newest. */
      readonly actions?: readonly ActionView[];
    })
  /** `retryId`: it can be asked for again, under this id. */
  | (ItemBase & {
      readonly kind: 'gap';
      readonly text: string;
      readonly loading?: true;
      /** It can be asked for (`retryGap`). */
      readonly retryId?: string;
      /** Nobody has asked for it yet. */
      readonly unloaded?: true;
    })
  | (ItemBase & { readonly kind: 'turn_end'; readonly turn: TurnView });

/** Everything around the transcript. */
export interface SessionView {
  readonly key: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly title?: string;
  readonly phase: SessionPhase;
  /** The phase in words: "waiting for you", "working: Bash for 4 min", "starting: waiting for initialize". */
  readonly status: string;
  readonly liveness: Liveness;
  readonly stages: readonly StageView[];
  readonly error?: ErrorView;
  /** The turn that runs now. */
  readonly turn?: TurnView;
  readonly turnCount: number;
  /** The newest turn, where it failed and its prompt can be sent again (`sendAgain`). */
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
  /** Images can be pasted. */
  readonly canAttachImages: boolean;
  readonly canAttachAudio: boolean;
  /** Other files can be pasted. */
  readonly canAttachFiles: boolean;
  /** A sentence above the composer, for example that the demo agent is scripted. */
  readonly banner?: string;
}

export type Op =
  /** Inserts at the end (index = number of items so far) or replaces. */
  | { readonly op: 'put'; readonly index: number; readonly item: ItemView }
  /** Appends to the last text block of a message (creates it where the last block is not text). `until` is the time of the last chunk. */
  | { readonly op: 'append'; readonly index: number; readonly text: string; readonly until: number }
  /** Appends to the output of a terminal wherever it is shown. `drop` characters go from the front first; the webview keeps no more than it shows. */
  | { readonly op: 'terminal'; readonly terminalId: string; readonly text: string; readonly drop: number }
  /** Replaces the fields that are there; `undefined` fields travel as null and clear. */
  | { readonly op: 'session'; readonly patch: { readonly [K in keyof SessionView]?: SessionView[K] | null } };

/** What is half written. The revision grows with each change, in the webview and in the host: the higher one is the newer text. */
export interface DraftView {
  readonly text: string;
  readonly revision: number;
}

/** A place in the transcript: the first item in sight, and how far it is above the edge, in CSS pixels. */
export interface Anchor {
  readonly index: number;
  readonly offset: number;
}

export type ToWebview =
  /** The whole truth: the session and the last page of items (`from` is the index of the first). Replaces everything. */
  | {
      readonly type: 'snapshot';
      readonly version: number;
      readonly revision: number;
      readonly session: SessionView;
      readonly total: number;
      readonly from: number;
      readonly items: readonly ItemView[];
      readonly draft: DraftView;
      /** Where the reader was, when not at the end. */
      readonly anchor?: Anchor;
    }
  | { readonly type: 'update'; readonly revision: number; readonly ops: readonly Op[] }
  /** Answer to `page`. `revision` is the one that the items are of. */
  | { readonly type: 'page'; readonly revision: number; readonly from: number; readonly items: readonly ItemView[] }
  /** The message with this clientId is in the host's hands; the composer may forget it. `revision`: of the draft without it. */
  | { readonly type: 'accepted'; readonly clientId: string; readonly revision: number }
  /** The draft of a session was changed elsewhere. */
  | ({ readonly type: 'draft'; readonly key: string } & DraftView)
  /** Something that the user did was not done. `clientId`: a message to send; `id`: the question that it was the answer to. */
  | { readonly type: 'rejected'; readonly clientId?: string; readonly id?: string; readonly reason: string }
  /** Puts text into the composer at the caret (a selection, a queue item to edit). */
  | { readonly type: 'insert'; readonly text: string }
  /** `question`: the first that is open, or the composer where there is none. */
  | { readonly type: 'focus'; readonly on: 'composer' | 'question' }
  /** The host did not take the answer to a form. */
  | { readonly type: 'formRefused'; readonly id: string; readonly problems: Readonly<Record<string, FormProblem>> }
  /** Scrolls to the item with a transcript index that was looked for, marks it and gives it the focus. */
  | { readonly type: 'reveal'; readonly index: number };

/** What the webview says of itself. */
export type PageMessage =
  | { readonly type: 'hello'; readonly version: number }
  /** Something broke in the webview, or its content policy stopped something. */
  | { readonly type: 'problem'; readonly kind: 'error' | 'csp'; readonly text: string };

/** What the webview asks of the host about the session that it shows. */
export type SessionMessage =
  | { readonly type: 'ack'; readonly revision: number }
  /** The user touched the panel: an idle session may start its agent. */
  | { readonly type: 'wake' }
  /** Sends the prompt of the turn that failed again, as a new message. */
  | { readonly type: 'sendAgain'; readonly turnId: string }
  /** `revision`: of the draft that is sent. */
  | { readonly type: 'send'; readonly clientId: string; readonly text: string; readonly revision: number }
  | ({ readonly type: 'draft' } & DraftView)
  /** Where the reader is; null: at the end. */
  | { readonly type: 'scrolled'; readonly anchor: Anchor | null }
  | { readonly type: 'cancel' }
  /** `optionId` null: dismissed. */
  | { readonly type: 'permission'; readonly id: string; readonly optionId: string | null }
  | { readonly type: 'elicitation'; readonly id: string; readonly answer: ElicitationAction }
  /** Stops one tool call, terminal or subagent. */
  | ({ readonly type: 'stopOne' } & StopTarget)
  | { readonly type: 'queue'; readonly action: QueueAction }
  | { readonly type: 'setMode'; readonly modeId: string }
  | { readonly type: 'setConfig'; readonly id: string; readonly value: string | boolean }
  | { readonly type: 'page'; readonly from: number; readonly to: number }
  /** Asks for the item whole: raw input and output included. Answered by an `update` with a `put`. */
  | { readonly type: 'details'; readonly index: number }
  | { readonly type: 'openLocation'; readonly path: string; readonly line?: number }
  /** The n-th content of a tool item, a diff, in VS Code's diff editor. */
  | { readonly type: 'openDiff'; readonly index: number; readonly content: number }
  /** Opens all that the host has of the n-th content of a tool item, a text or a terminal, in an editor. */
  | { readonly type: 'openOutput'; readonly index: number; readonly content: number }
  /** Saves the n-th content of an entry, a file that came with it, where the user then says. */
  | { readonly type: 'saveResource'; readonly index: number; readonly content: number }
  | { readonly type: 'openTerminal'; readonly terminalId: string }
  /** Asks again for a message that is missing; the id is `retryId` of its gap. */
  | { readonly type: 'retryGap'; readonly id: string }
  | { readonly type: 'openLink'; readonly href: string }
  | { readonly type: 'copy'; readonly text: string }
  /** Copies what the agent said in a turn; the webview may not have all of it. */
  | { readonly type: 'copyTurn'; readonly turnId: string }
  | { readonly type: 'action'; readonly id: string }
  | {
      readonly type: 'command';
      readonly command:
        | 'newSession'
        | 'selectAgent'
        | 'sessions'
        | 'showLog'
        | 'showTraffic'
        | 'attachFile'
        | 'openSettings';
    }
  /** A pasted file: `data` is base64. */
  | {
      readonly type: 'attachImage';
      readonly data: string;
      readonly mimeType: string;
      readonly name: string;
      readonly thumbnail?: string;
    }
  | { readonly type: 'attachFile'; readonly data: string; readonly mimeType: string; readonly name: string }
  | { readonly type: 'detach'; readonly id: string };

/**
 * What the host hears; it trusts none of it and validates each message. `key` is the session that the
 * webview showed when the user acted, which may no longer be the one that the host shows; null: the
 * webview had shown none yet.
 */
export type FromWebview = PageMessage | (SessionMessage & { readonly key: string | null });

export type {
  AvailableCommand,
  ConfigOption,
  ConfigValue,
  ContentBlock,
  PermissionOption,
  PlanEntry,
  SessionMode,
  ToolLocation,
  ToolStatus,
  Usage,
} from '../session/events/content';
export type { Barrier, StopReason } from '../session/events/event';
export type { ElicitationBody, Form, FormField, FormOption, FormValue } from '../session/events/form';
