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

/** Grows with incompatible changes. A webview of another version is asked to reload. */
export const CONTRACT_VERSION = 2;

/** Maximum characters of one message. */
export const MAX_TEXT = 2_000_000;
export const MAX_REASON = 5000;

/** Maximum characters. */
export const MAX_LANG = 100;
export const MAX_CODE_PATH = 300;

/** Maximum characters of a query and of a drawn text, and number of texts. */
export const MAX_FIND = { query: 1000, text: 200_000, texts: 100 } as const;

/** Maximum characters of a `data:` URL. */
export const MAX_THUMBNAIL = 8 * 1024;

export type Op =
  /** `index` is the number of items, or that of one to replace. */
  | { readonly op: 'put'; readonly index: number; readonly item: ItemView }
  /** Appends to the last text block, or adds one. `until`: the time of the last chunk. */
  | { readonly op: 'append'; readonly index: number; readonly text: string; readonly until: number }
  /** Appends to a terminal after dropping `drop` characters from its start. */
  | { readonly op: 'terminal'; readonly terminalId: string; readonly text: string; readonly drop: number }
  /** Null clears a field. */
  | { readonly op: 'session'; readonly patch: { readonly [K in keyof SessionView]?: SessionView[K] | null } };

/** Each change increments the revision. */
export interface DraftView {
  readonly text: string;
  readonly revision: number;
}

/** The first visible item, and how far its top is above the top edge, px. */
export interface Anchor {
  readonly index: number;
  readonly offset: number;
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
      /** Runs of nested items: first and last index of each. */
      readonly nested?: readonly (readonly [number, number])[];
      readonly draft: DraftView;
      /** Absent at the end. */
      readonly anchor?: Anchor;
    }
  | { readonly type: 'update'; readonly revision: number; readonly ops: readonly Op[] }
  /** The response to `page`. */
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
  /** `clientId`: of the refused message; `id`: of the question. */
  | { readonly type: 'rejected'; readonly clientId?: string; readonly id?: string; readonly reason: string }
  /** Inserts at the caret. */
  | { readonly type: 'insert'; readonly text: string }
  /**
   * `question`: the first one, or else the composer. `previousPrompt`, `nextPrompt`: the user's
   * message before or after the focus.
   */
  | {
      readonly type: 'focus';
      readonly on: 'composer' | 'question' | 'find' | 'timeline' | 'previousPrompt' | 'nextPrompt';
    }
  | { readonly type: 'formRefused'; readonly id: string; readonly problems: Readonly<Record<string, FormProblem>> }
  /** The response to `changes`. */
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
  /** What can be added to the message from the active editor. */
  | { readonly type: 'activeEditor'; readonly offer: MentionView | null }
  | { readonly type: 'firstUse'; readonly offers: FirstUseView | null }
  /** Null: nothing happened, or the user has dismissed it. */
  | { readonly type: 'away'; readonly key: string; readonly view: AwayView | null }
  /** The branch of the session's worktree. Null: it works in the user's folder. */
  | { readonly type: 'worktree'; readonly key: string; readonly branch: string | null }
  | { readonly type: 'welcome'; readonly key: string; readonly welcome: WelcomeView }
  /**
   * Entries with the numbers of their matches, since the last message. `isNew`: earlier ones no
   * longer count.
   */
  | {
      readonly type: 'found';
      readonly id: number;
      readonly counts: readonly (readonly [index: number, count: number])[];
      readonly isDone: boolean;
      readonly isNew?: true;
      /** The search has ended. */
      readonly problem?: 'invalid' | 'slow';
    }
  /** The response to `findIn`: alternating start and length of matches, for each text. */
  | {
      readonly type: 'foundIn';
      readonly id: number;
      readonly request: number;
      readonly ranges: readonly (readonly number[])[];
    }
  /** For the clipboard: as Markdown and as rich text. */
  | { readonly type: 'clipboard'; readonly text: string; readonly html: string }
  | ({ readonly type: 'timeline'; readonly id: number } & TimelineView)
  /** Plays a sound. */
  | { readonly type: 'chime' }
  /** Scrolls to a search result. */
  | { readonly type: 'reveal'; readonly index: number };

export type PageMessage =
  | { readonly type: 'hello'; readonly version: number }
  | { readonly type: 'focused' }
  | { readonly type: 'problem'; readonly kind: 'error' | 'csp'; readonly text: string };

export type CodeAction = 'insert' | 'apply' | 'open' | 'run' | 'draw';

export type QueueAction =
  | { readonly kind: 'edit'; readonly id: string; readonly text: string }
  /** Holds a message back while it is edited. */
  | { readonly kind: 'hold'; readonly id: string; readonly held: boolean }
  | { readonly kind: 'remove'; readonly id: string }
  /** Asks the agent to return a queued message. */
  | { readonly kind: 'takeBack'; readonly id: string }
  | { readonly kind: 'sendNow'; readonly id: string }
  | { readonly kind: 'move'; readonly id: string; readonly to: number }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  | { readonly kind: 'clear' };

/**
 * What a new session begins with: all before a message, and the message. `edit` restores the files
 * first, `retry` uses another agent. `review` asks another agent to review the changes of the turn.
 */
export type FromTurn = 'edit' | 'fork' | 'retry' | 'review';

export type ChangesScope = { readonly turnId: string } | 'review';

export interface FindQuery {
  readonly text: string;
  readonly matchCase: boolean;
  readonly wholeWord: boolean;
  readonly regex: boolean;
}

/** Without `file`, about all of the scope. */
export interface ChangesAction {
  readonly kind: 'open' | 'keep' | 'undo';
  readonly scope: ChangesScope;
  readonly file?: string;
}

/** The URL of a page never comes from the webview. */
export type ElicitationAction =
  | { readonly kind: 'submit'; readonly values: Readonly<Record<string, unknown>> }
  | { readonly kind: 'open' }
  | { readonly kind: 'decline' }
  | { readonly kind: 'cancel' };

export type SessionMessage =
  | { readonly type: 'ack'; readonly revision: number }
  /** The user interacted: an idle session can start its agent. */
  | { readonly type: 'wake' }
  | { readonly type: 'sendAgain'; readonly turnId: string }
  /** `now`: stops the running turn. */
  | {
      readonly type: 'send';
      readonly clientId: string;
      readonly text: string;
      readonly revision: number;
      readonly now?: boolean;
    }
  | ({ readonly type: 'draft' } & DraftView)
  /**
   * What was sent and typed while no host listened, oldest first. Answered with `accepted`. The
   * host may know only the key of its session.
   */
  | {
      readonly type: 'unsent';
      readonly clientId: string;
      readonly messages: readonly string[];
      /** The rest of the draft. */
      readonly text: string;
      readonly revision: number;
    }
  /** Null: at the end. */
  | { readonly type: 'scrolled'; readonly anchor: Anchor | null }
  | { readonly type: 'cancel' }
  /** `optionId` null: dismissed. `reason`: of a rejection. */
  | { readonly type: 'permission'; readonly id: string; readonly optionId: string | null; readonly reason?: string }
  | { readonly type: 'showRule'; readonly index: number }
  | { readonly type: 'editProposal'; readonly id: string }
  /** Saves the offered rule, after a dialog, and answers by it. */
  | { readonly type: 'permissionRule'; readonly id: string }
  | { readonly type: 'elicitation'; readonly id: string; readonly answer: ElicitationAction }
  | ({ readonly type: 'stopOne' } & StopTarget)
  | { readonly type: 'queue'; readonly action: QueueAction }
  | { readonly type: 'setMode'; readonly modeId: string }
  | { readonly type: 'setConfig'; readonly id: string; readonly value: string | boolean }
  | { readonly type: 'page'; readonly from: number; readonly to: number }
  /** Replaces the last search. Begins with the entry at `from`. The responses are `found`. */
  | { readonly type: 'find'; readonly id: number; readonly query: FindQuery; readonly from: number }
  /** Requests the places of matches in texts as drawn. */
  | { readonly type: 'findIn'; readonly id: number; readonly request: number; readonly texts: readonly string[] }
  | { readonly type: 'endFind' }
  | { readonly type: 'dismissAway' }
  /** Requests turns and calls from the entry at `from`. */
  | { readonly type: 'timeline'; readonly id: number; readonly from: number }
  /**
   * Requests items nested in the call at `index`: numbers `from` to `to`, or those near the item
   * `around`. Beyond the end: the last ones.
   */
  | {
      readonly type: 'nested';
      readonly index: number;
      readonly from: number;
      readonly to: number;
      readonly around?: number;
    }
  /** Requests the raw input and output of an item. The response is a `put`. */
  | { readonly type: 'details'; readonly index: number }
  | { readonly type: 'openLocation'; readonly path: string; readonly line?: number }
  | { readonly type: 'openDiff'; readonly index: number; readonly content: number }
  /** Compares a diff with what the call has really written. */
  | { readonly type: 'openWritten'; readonly index: number; readonly content: number }
  | { readonly type: 'openOutput'; readonly index: number; readonly content: number }
  | { readonly type: 'saveResource'; readonly index: number; readonly content: number }
  | { readonly type: 'openTerminal'; readonly terminalId: string }
  | { readonly type: 'retryGap'; readonly id: string }
  | { readonly type: 'retryGaps' }
  | { readonly type: 'openLink'; readonly href: string }
  | { readonly type: 'copy'; readonly text: string }
  /** `path`: of the file of the code, as the agent wrote it. */
  | {
      readonly type: 'useCode';
      readonly action: CodeAction;
      readonly text: string;
      readonly lang: string;
      readonly path?: string;
    }
  /** The webview may not have all of it. */
  | { readonly type: 'copySession' }
  /** The webview may not have all of it. */
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
  | { readonly type: 'useAgent'; readonly id: string }
  /** `data`: base64. */
  | {
      readonly type: 'attachImage';
      readonly data: string;
      readonly mimeType: string;
      readonly name: string;
      readonly thumbnail?: string;
    }
  | { readonly type: 'attachFile'; readonly data: string; readonly mimeType: string; readonly name: string }
  | { readonly type: 'attachUris'; readonly uris: readonly string[] }
  | { readonly type: 'detach'; readonly id: string }
  /** `query`: what follows the `@`. */
  | { readonly type: 'mentions'; readonly query: string }
  | { readonly type: 'mention'; readonly id: string }
  | { readonly type: 'changes'; readonly scope: ChangesScope; readonly from: number; readonly to: number }
  | ({ readonly type: 'changesAction' } & ChangesAction)
  /** Stops after the current file. */
  | { readonly type: 'cancelChanges' }
  /** The host shows what will change and asks. */
  | { readonly type: 'restoreCheckpoint'; readonly turnId: string }
  | { readonly type: 'continueFrom'; readonly turnId: string; readonly how: FromTurn };

/**
 * Untrusted: the host validates each message. `key`: of the session that was shown when the user
 * acted; null: none yet.
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
