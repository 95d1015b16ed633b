// The contract between extension host and webview: plain JSON, one union for each direction. The
// host owns the session; the webview owns what is expanded, scrolled and half typed. Each message
// of the host has a revision that the webview acknowledges, so that the host never floods a slow
// webview.
import type { FormProblem } from './checkForm';
import type { TimelineView } from './timelineView';
import type {
  AwayView,
  ChangedFileView,
  FirstUseView,
  ItemView,
  MentionView,
  SessionView,
  StopTarget,
  WelcomeView,
} from './views';

/** Incremented on incompatible changes; a webview with another version is asked to reload. */
export const CONTRACT_VERSION = 2;

/** Maximum characters of one message. */
export const MAX_TEXT = 2_000_000;
/** Characters of the reason of a rejection. */
export const MAX_REASON = 5000;

/** Maximum characters of the language of a code block, and of the path of its file. */
export const MAX_LANG = 100;
export const MAX_CODE_PATH = 300;

/** Maximum characters of what is searched for, of one drawn text to find it in, and number of those. */
export const MAX_FIND = { query: 1000, text: 200_000, texts: 100 } as const;

/** Maximum characters of a thumbnail, a `data:` URL. */
export const MAX_THUMBNAIL = 8 * 1024;

export type Op =
  /** Appends an item (index = number of items) or replaces one. */
  | { readonly op: 'put'; readonly index: number; readonly item: ItemView }
  /**
   * Appends to the last text block of a message, or adds one. `until` is the time of the last
   * chunk.
   */
  | { readonly op: 'append'; readonly index: number; readonly text: string; readonly until: number }
  /**
   * Appends to the output of a terminal wherever it is shown, after dropping `drop` characters from
   * its start.
   */
  | { readonly op: 'terminal'; readonly terminalId: string; readonly text: string; readonly drop: number }
  /** Replaces the given fields; null clears a field. */
  | { readonly op: 'session'; readonly patch: { readonly [K in keyof SessionView]?: SessionView[K] | null } };

/**
 * A draft. The revision grows with each change in the webview or the host; the higher one is newer.
 */
export interface DraftView {
  readonly text: string;
  readonly revision: number;
}

/**
 * A scroll position: the first visible item, and how far its top is above the top edge, in CSS
 * pixels.
 */
export interface Anchor {
  readonly index: number;
  readonly offset: number;
}

export type ToWebview =
  /**
   * The session and the last page of items (`from` is the index of the first). Replaces everything.
   */
  | {
      readonly type: 'snapshot';
      readonly version: number;
      readonly revision: number;
      readonly session: SessionView;
      readonly total: number;
      readonly from: number;
      readonly items: readonly ItemView[];
      /** The items that are nested in others, in runs: first and last index of each. */
      readonly nested?: readonly (readonly [number, number])[];
      readonly draft: DraftView;
      /** The scroll position, if not at the end. */
      readonly anchor?: Anchor;
    }
  | { readonly type: 'update'; readonly revision: number; readonly ops: readonly Op[] }
  /** The response to `page`. `revision` is the revision of the items. */
  | { readonly type: 'page'; readonly revision: number; readonly from: number; readonly items: readonly ItemView[] }
  /**
   * The response to `nested`: items with their indexes, the first one being child number `from` of
   * `total`.
   */
  | {
      readonly type: 'nested';
      readonly revision: number;
      readonly index: number;
      readonly from: number;
      readonly total: number;
      readonly items: readonly { readonly index: number; readonly item: ItemView }[];
    }
  /** The host has the message with this clientId. `revision`: of the draft without it. */
  | { readonly type: 'accepted'; readonly clientId: string; readonly revision: number }
  /** The draft of a session was changed elsewhere. */
  | ({ readonly type: 'draft'; readonly key: string } & DraftView)
  /** A user action was refused. `clientId`: a message to send; `id`: the answered question. */
  | { readonly type: 'rejected'; readonly clientId?: string; readonly id?: string; readonly reason: string }
  /** Inserts text into the composer at the caret (a selection, a queued message to edit). */
  | { readonly type: 'insert'; readonly text: string }
  /**
   * `question`: the first open one, or the composer if there is none. `find`, `timeline`: opens it.
   * `previousPrompt`, `nextPrompt`: the user's message before or after what has the focus.
   */
  | {
      readonly type: 'focus';
      readonly on: 'composer' | 'question' | 'find' | 'timeline' | 'previousPrompt' | 'nextPrompt';
    }
  /** The host refused the answer to a form. */
  | { readonly type: 'formRefused'; readonly id: string; readonly problems: Readonly<Record<string, FormProblem>> }
  /** The response to `changes`: `files` begin at `from`, of `total`. */
  | {
      readonly type: 'changes';
      readonly scope: ChangesScope;
      readonly version: number;
      readonly total: number;
      readonly from: number;
      readonly files: readonly ChangedFileView[];
    }
  /** The response to `mentions`. */
  | { readonly type: 'mentions'; readonly query: string; readonly offers: readonly MentionView[] }
  /** What of the active editor can be added to the message (`mention`); null: nothing. */
  | { readonly type: 'activeEditor'; readonly offer: MentionView | null }
  /** What an empty conversation offers to begin with; null: nothing. */
  | { readonly type: 'firstUse'; readonly offers: FirstUseView | null }
  /** What happened while nobody looked; null: nothing, or the user has dismissed it. */
  | { readonly type: 'away'; readonly key: string; readonly view: AwayView | null }
  /** The branch of the worktree that a session works in; null: it works in the user's folder. */
  | { readonly type: 'worktree'; readonly key: string; readonly branch: string | null }
  /** What an empty conversation says of its folder. */
  | { readonly type: 'welcome'; readonly key: string; readonly welcome: WelcomeView }
  /**
   * What a search has found since the last message: entries and how many matches each has now.
   * `isNew`: what was told before no longer counts.
   */
  | {
      readonly type: 'found';
      readonly id: number;
      readonly counts: readonly (readonly [index: number, count: number])[];
      readonly isDone: boolean;
      readonly isNew?: true;
      /** The search has ended: the expression is invalid, or takes too long. */
      readonly problem?: 'invalid' | 'slow';
    }
  /** The response to `findIn`: for each text start and length of its matches, in turns. */
  | {
      readonly type: 'foundIn';
      readonly id: number;
      readonly request: number;
      readonly ranges: readonly (readonly number[])[];
    }
  /** A session that the page puts into the clipboard, as Markdown and as rich text. */
  | { readonly type: 'clipboard'; readonly text: string; readonly html: string }
  /** The response to `timeline`, in parts. */
  | ({ readonly type: 'timeline'; readonly id: number } & TimelineView)
  /** A notification is shown: plays a sound. */
  | { readonly type: 'chime' }
  /** Scrolls to the item of a search result, highlights and focuses it. */
  | { readonly type: 'reveal'; readonly index: number };

/** Messages about the webview itself. */
export type PageMessage =
  | { readonly type: 'hello'; readonly version: number }
  /** The page got the focus. */
  | { readonly type: 'focused' }
  /** An error in the webview, or a violation of its content security policy. */
  | { readonly type: 'problem'; readonly kind: 'error' | 'csp'; readonly text: string };

/** What can be done with a code block besides copying it. */
export type CodeAction = 'insert' | 'apply' | 'open' | 'run' | 'draw';

export type QueueAction =
  | { readonly kind: 'edit'; readonly id: string; readonly text: string }
  /** A message is not sent while it is being edited. */
  | { readonly kind: 'hold'; readonly id: string; readonly held: boolean }
  | { readonly kind: 'remove'; readonly id: string }
  /** Asks the agent to return a message that it has queued. */
  | { readonly kind: 'takeBack'; readonly id: string }
  | { readonly kind: 'sendNow'; readonly id: string }
  | { readonly kind: 'move'; readonly id: string; readonly to: number }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  | { readonly kind: 'clear' };

/**
 * What a new session begins with: the user's message of a turn, and what was said before it. `edit`
 * restores the files first, `fork` leaves them, `retry` leaves them and has another agent. `review`:
 * with another agent, a request to review what the turn changed.
 */
export type FromTurn = 'edit' | 'fork' | 'retry' | 'review';

/** Changed files of one turn, or all that wait for review. */
export type ChangesScope = { readonly turnId: string } | 'review';

/** What the user searches for in a session. */
export interface FindQuery {
  readonly text: string;
  readonly matchCase: boolean;
  readonly wholeWord: boolean;
  /** The text is a regular expression. */
  readonly regex: boolean;
}

/** What the user does with changed files; without `file`, with all of the scope. */
export interface ChangesAction {
  readonly kind: 'open' | 'keep' | 'undo';
  readonly scope: ChangesScope;
  /** The `id` of a {@link ChangedFileView}. */
  readonly file?: string;
}

/** The answer to a form or page. The URL of a page never comes from the webview. */
export type ElicitationAction =
  | { readonly kind: 'submit'; readonly values: Readonly<Record<string, unknown>> }
  | { readonly kind: 'open' }
  | { readonly kind: 'decline' }
  | { readonly kind: 'cancel' };

/** Messages about the displayed session. */
export type SessionMessage =
  | { readonly type: 'ack'; readonly revision: number }
  /** The user interacted with the panel: an idle session can start its agent. */
  | { readonly type: 'wake' }
  /** Sends the prompt of a failed turn again as a new message. */
  | { readonly type: 'sendAgain'; readonly turnId: string }
  /** `revision`: of the draft that is sent. `now`: stops the running turn, if there is one. */
  | {
      readonly type: 'send';
      readonly clientId: string;
      readonly text: string;
      readonly revision: number;
      readonly now?: boolean;
    }
  | ({ readonly type: 'draft' } & DraftView)
  /**
   * What was sent and typed while no host listened, oldest first. The messages are queued, and the
   * host answers with `accepted`. Its session may be one of which the host knows only the key.
   */
  | {
      readonly type: 'unsent';
      readonly clientId: string;
      readonly messages: readonly string[];
      /** The rest of the draft, and its revision. */
      readonly text: string;
      readonly revision: number;
    }
  /** The scroll position; null: at the end. */
  | { readonly type: 'scrolled'; readonly anchor: Anchor | null }
  | { readonly type: 'cancel' }
  /** `optionId` null: dismissed. `reason`: of a rejection, for the agent. */
  | { readonly type: 'permission'; readonly id: string; readonly optionId: string | null; readonly reason?: string }
  /** Shows the rule that answered the request of a tool item. */
  | { readonly type: 'showRule'; readonly index: number }
  /** Opens the change that a request is about, to be edited before it is made. */
  | { readonly type: 'editProposal'; readonly id: string }
  /** Saves the rule that a request offers, after a dialog, and answers by it. */
  | { readonly type: 'permissionRule'; readonly id: string }
  | { readonly type: 'elicitation'; readonly id: string; readonly answer: ElicitationAction }
  /** Stops a single tool call, terminal or subagent. */
  | ({ readonly type: 'stopOne' } & StopTarget)
  | { readonly type: 'queue'; readonly action: QueueAction }
  | { readonly type: 'setMode'; readonly modeId: string }
  | { readonly type: 'setConfig'; readonly id: string; readonly value: string | boolean }
  | { readonly type: 'page'; readonly from: number; readonly to: number }
  /**
   * Searches the session, beginning with the entry at `from`, in the place of the last search. The
   * responses are `found`, with the same id.
   */
  | { readonly type: 'find'; readonly id: number; readonly query: FindQuery; readonly from: number }
  /** Requests where the matches of search `id` are in texts as they are drawn. */
  | { readonly type: 'findIn'; readonly id: number; readonly request: number; readonly texts: readonly string[] }
  /** Ends the search. */
  | { readonly type: 'endFind' }
  /** The user has seen what happened while they were away. */
  | { readonly type: 'dismissAway' }
  /** Requests the turns and tool calls from the entry at `from` on, with their times. */
  | { readonly type: 'timeline'; readonly id: number; readonly from: number }
  /**
   * Requests items that are nested in the call at `index`: those from number `from` to number `to`,
   * or those near the item with index `around`. Beyond the end: the last ones. The response is
   * `nested`.
   */
  | {
      readonly type: 'nested';
      readonly index: number;
      readonly from: number;
      readonly to: number;
      readonly around?: number;
    }
  /** Requests the item with raw input and output. The response is an `update` with a `put`. */
  | { readonly type: 'details'; readonly index: number }
  | { readonly type: 'openLocation'; readonly path: string; readonly line?: number }
  /** Opens the n-th content of a tool item, a diff, in the diff editor. */
  | { readonly type: 'openDiff'; readonly index: number; readonly content: number }
  /** Compares the n-th content of a tool item, a diff, with what the call has really written. */
  | { readonly type: 'openWritten'; readonly index: number; readonly content: number }
  /** Opens the full n-th content of a tool item, a text or a terminal, in an editor. */
  | { readonly type: 'openOutput'; readonly index: number; readonly content: number }
  /** Saves the n-th content of an entry, a file, to a location that the user chooses. */
  | { readonly type: 'saveResource'; readonly index: number; readonly content: number }
  | { readonly type: 'openTerminal'; readonly terminalId: string }
  /** Requests a missing message again; the id is `retryId` of its gap. */
  | { readonly type: 'retryGap'; readonly id: string }
  /** Requests all missing messages again. */
  | { readonly type: 'retryGaps' }
  | { readonly type: 'openLink'; readonly href: string }
  | { readonly type: 'copy'; readonly text: string }
  /**
   * Inserts a code block at the cursor, proposes it as a change of a file, opens it in an editor,
   * runs it in a terminal (the host asks), or draws its diagram. `path`: of its file, as the agent
   * wrote it.
   */
  | {
      readonly type: 'useCode';
      readonly action: CodeAction;
      readonly text: string;
      readonly lang: string;
      readonly path?: string;
    }
  /** Copies the whole session as Markdown; the webview may not have all of it. */
  | { readonly type: 'copySession' }
  /** Copies the agent's messages of a turn; the webview may not have all of them. */
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
        | 'troubleshoot'
        | 'attachFile'
        | 'openSettings'
        | 'showKeys'
        | 'installAgent'
        | 'renameSession'
        | 'forkSession'
        | 'checkStatus'
        | 'applyWorktree'
        | 'commitWorktree'
        | 'removeWorktree'
        | 'continueWith'
        | 'openAsMarkdown'
        | 'commentOnPlan'
        | 'export';
    }
  /** Configures an agent of {@link FirstUseView} and starts a session with it. */
  | { readonly type: 'useAgent'; readonly id: string }
  /** A pasted file: `data` is base64. */
  | {
      readonly type: 'attachImage';
      readonly data: string;
      readonly mimeType: string;
      readonly name: string;
      readonly thumbnail?: string;
    }
  | { readonly type: 'attachFile'; readonly data: string; readonly mimeType: string; readonly name: string }
  /** Attaches files of the workspace that were dropped. */
  | { readonly type: 'attachUris'; readonly uris: readonly string[] }
  | { readonly type: 'detach'; readonly id: string }
  /** Requests what can be mentioned; `query`: what follows the `@`. */
  | { readonly type: 'mentions'; readonly query: string }
  /** Attaches what was mentioned, by the id of its {@link MentionView}. */
  | { readonly type: 'mention'; readonly id: string }
  /** Requests a part of a list of changed files. */
  | { readonly type: 'changes'; readonly scope: ChangesScope; readonly from: number; readonly to: number }
  | ({ readonly type: 'changesAction' } & ChangesAction)
  /** Stops the work on changed files (`changesWork`) after the file that it is at. */
  | { readonly type: 'cancelChanges' }
  /** Restores the files to before a turn; the host shows what will change and asks. */
  | { readonly type: 'restoreCheckpoint'; readonly turnId: string }
  /** Edits the prompt of a turn and sends it again, from before that turn. */
  | { readonly type: 'continueFrom'; readonly turnId: string; readonly how: FromTurn };

/**
 * Untrusted: the host validates each message. `key` is the session that the webview showed when the
 * user acted, which may no longer be the one that the host shows; null if it had shown none yet.
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
export type { TimelineCall, TimelineTurn, TimelineView } from './timelineView';
export type {
  ActionView,
  AttachmentView,
  AwayList,
  AwayView,
  BackgroundView,
  BlockView,
  ChangedFileView,
  ChangesCount,
  ChangesWorkView,
  DecisionView,
  DiffHunk,
  DiffView,
  ElicitationView,
  ErrorView,
  FirstUseView,
  ItemView,
  Liveness,
  MentionView,
  NestedView,
  PermissionView,
  PlanProgressView,
  QueueItemView,
  SessionPhase,
  SessionView,
  StageName,
  StageView,
  StopTarget,
  TerminalView,
  ToolContentView,
  TurnView,
  WelcomeView,
} from './views';
export { STAGES } from './views';
