// Session events, modelled on protocol v2: upserts by id, chunks that append, turns with a start
// and an end. The protocol dialects produce them and the session model applies them. Events are
// plain JSON: replaying a recorded list gives the same state.
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
  ToolContent,
  ToolLocation,
  ToolStatus,
  TurnTokens,
  Usage,
} from './content';
import type { ElicitationBody } from './form';
import type { OwnText } from './ownText';

export type MessageRole = 'user' | 'agent' | 'thought';

export type StopReason =
  | 'end_turn'
  | 'cancelled'
  | 'refusal'
  | 'max_tokens'
  | 'max_turn_requests'
  | 'error'
  | 'unknown';

export type Barrier = 'turn_complete' | 'state' | 'response' | 'timeout' | 'exit';

/** Fields of a tool call. Absent means unchanged, null means cleared. */
export interface ToolPatch {
  readonly title?: string | null;
  readonly name?: string | null;
  readonly kind?: string | null;
  readonly status?: ToolStatus | null;
  readonly content?: readonly ToolContent[] | null;
  readonly locations?: readonly ToolLocation[] | null;
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
  readonly canCancel?: boolean;
  readonly parent?: string;
}

export type EventOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;

/** All changes to a session. Times (`at`) are in ms since 1970. */
export type SessionEvent =
  // Messages.
  | {
      readonly type: 'message_chunk';
      readonly role: MessageRole;
      readonly messageId?: string;
      readonly block: ContentBlock;
      readonly parent?: string;
    }
  /** Ends the last message: a following chunk without an id starts a new one. */
  | { readonly type: 'message_ended' }
  /** A whole message: `content` replaces, null clears, absent leaves unchanged. */
  | {
      readonly type: 'message';
      readonly role: MessageRole;
      readonly messageId: string;
      readonly content?: readonly ContentBlock[] | null;
    }
  | { readonly type: 'tool_content'; readonly toolCallId: string; readonly part: ToolContent }
  | {
      readonly type: 'tool_call';
      readonly toolCallId: string;
      readonly patch: ToolPatch;
      readonly announced: boolean;
      readonly asks?: true;
    }
  | { readonly type: 'plan'; readonly planId: string; readonly entries: readonly PlanEntry[] }
  | {
      readonly type: 'plan_document';
      readonly planId: string;
      readonly document:
        | { readonly type: 'markdown'; readonly text: string; readonly path?: string }
        | { readonly type: 'file'; readonly uri: string };
    }
  | { readonly type: 'plan_removed'; readonly planId: string }
  /** A session that the agent runs for this one. Absent leaves unchanged, null clears. */
  | {
      readonly type: 'subagent';
      readonly sessionId: string;
      readonly title?: string | null;
      readonly description?: string | null;
      /** `running`, `idle`, `requires_action`; any other value counts as busy. */
      readonly state?: string | null;
      /** Absolute working directory; absent: its parent's. */
      readonly cwd?: string | null;
      readonly additionalDirectories?: readonly string[] | null;
      readonly canCancel?: boolean;
      readonly parent?: string;
    }
  /** Progress of a subagent: text to append, or the title of a tool call. */
  | { readonly type: 'subagent_said'; readonly sessionId: string; readonly text: string; readonly messageId?: string }
  | { readonly type: 'subagent_did'; readonly sessionId: string; readonly title: string }
  /** The agent process exited, and its subagents with it. */
  | { readonly type: 'subagents_ended' }
  /** Absent fields are unchanged; `text` replaces what `append` built up. */
  | {
      readonly type: 'session_message';
      /** The subagent whose transcript has the message; absent: the main session. */
      readonly session?: string;
      readonly messageId: string;
      readonly sender?: string | null;
      readonly recipient?: string | null;
      /** Ids of the same message in the transcripts of sender and recipient. */
      readonly senderMessage?: string | null;
      readonly recipientMessage?: string | null;
      readonly text?: string;
      readonly append?: string;
    }
  | {
      readonly type: 'notice';
      readonly severity: string;
      readonly title: string;
      readonly description?: LocalizableText;
      readonly own?: true;
      readonly said?: OwnText;
      readonly action?: { readonly id: string; readonly label?: string };
      /** Opens a session imported from elsewhere. */
      readonly opens?: true;
      readonly beginsAnew?: true;
    }
  /** A message of an imported session that is missing here. Adds or updates a gap. */
  | {
      readonly type: 'gap';
      readonly gapId: string;
      readonly text: string;
      readonly said?: OwnText;
      readonly state: GapState;
      /** Absent: known from the containing message or an earlier event. */
      readonly remote?: RemoteContent;
    }
  /** Adds gaps `<prefix><first>` and following, for a history being loaded. */
  | {
      readonly type: 'gaps';
      readonly prefix: string;
      readonly first: number;
      readonly count: number;
      readonly inPlaceOf?: string;
      readonly text: string;
      readonly said?: OwnText;
      readonly state: GapState;
    }
  /** The missing content has arrived. Its entries replace the gap and keep their original time. */
  | ({ readonly type: 'gap_filled' } & GapFilling)
  /** Several `gap_filled` in one event, so that entries move only once. */
  | { readonly type: 'gaps_filled'; readonly fillings: readonly GapFilling[] }
  | {
      readonly type: 'compaction';
      readonly compactionId: string;
      readonly status?: string;
      readonly summary?: string;
      readonly append?: string;
      readonly error?: string;
    }
  | { readonly type: 'unknown_update'; readonly name: string; readonly raw: unknown }
  | {
      readonly type: 'error';
      readonly code: string;
      readonly message: LocalizableText;
      readonly hint?: LocalizableText;
      readonly stderr?: string;
      /** A turn that has already ended; absent: the running turn. */
      readonly turnId?: string;
      readonly actions?: readonly { readonly id: string; readonly label: LocalizableText }[];
    }
  // Session properties.
  | { readonly type: 'commands'; readonly commands: readonly AvailableCommand[] }
  | { readonly type: 'modes'; readonly current: string; readonly modes: readonly SessionMode[] }
  /**
   * @property byUser the user has set it
   * @property isPast the agent repeats an earlier value, which may have changed since
   */
  | { readonly type: 'mode'; readonly current: string; readonly byUser?: true; readonly isPast?: true }
  /**
   * @property chosen id of the option that the user has set
   * @property isPast as for `mode`
   */
  | {
      readonly type: 'config';
      readonly options: readonly ConfigOption[];
      readonly chosen?: string;
      readonly isPast?: true;
    }
  /** Choices that must be in effect before the next prompt is sent; replaces the previous list. */
  | {
      readonly type: 'choices';
      readonly wanted: readonly Choice[];
      readonly agentId?: string;
      readonly opens?: true;
    }
  | {
      readonly type: 'info';
      readonly title?: string | null;
      readonly updatedAt?: string | null;
      readonly byUser?: true;
    }
  | { readonly type: 'usage'; readonly usage: Usage }
  /** Replaces limits of the same kinds, and any limit that was reached. */
  | { readonly type: 'rate_limits'; readonly limits: readonly RateLimit[] }
  /** A suggestion for the next message, on one line; absent: withdrawn. */
  | { readonly type: 'prompt_suggestion'; readonly text?: string | undefined }
  // Terminals run by the client or only described by the agent. `output` replaces, `append`
  // extends.
  | {
      readonly type: 'terminal';
      readonly terminalId: string;
      readonly command?: string;
      readonly cwd?: string;
      readonly output?: string;
      readonly append?: string;
      readonly truncated?: boolean;
      /** Null: the terminal is running after all. */
      readonly exit?: TerminalExit | null;
      readonly released?: boolean;
      readonly canCancel?: boolean;
      readonly toolCallId?: string;
      readonly isStopped?: true;
    }
  // The user's input.
  | {
      readonly type: 'prompt_sent';
      readonly turnId: string;
      readonly promptId: string;
      readonly content: readonly ContentBlock[];
      readonly messageId?: string;
      readonly echo?: string;
    }
  /** The agent has accepted a prompt as the message with this id. */
  | { readonly type: 'prompt_inserted'; readonly promptId: string; readonly messageId: string }
  | {
      readonly type: 'permission_asked';
      readonly permissionId: string;
      readonly toolCallId?: string;
      readonly title: string;
      readonly description?: string;
      readonly command?: { readonly line: string; readonly cwd?: string };
      readonly options: readonly PermissionOption[];
      readonly ruleOffer?: PermissionRuleOffer;
    }
  | {
      readonly type: 'permission_closed';
      readonly permissionId: string;
      readonly outcome: 'selected' | 'cancelled';
      readonly optionId?: string;
      readonly by: 'user' | 'turn' | 'agent' | 'exit' | 'rule';
      readonly rule?: string;
      /** The user made the change with edits; the option only keeps the agent from making it. */
      readonly isEdited?: true;
    }
  // Elicitations: a form or a page in the browser. `id` is assigned by the client.
  | ({
      readonly type: 'elicitation_asked';
      readonly id: string;
      readonly toolCallId?: string;
      readonly message: string;
    } & ElicitationBody)
  /** The page was opened and the agent notified; only the agent knows the outcome. */
  | { readonly type: 'elicitation_opened'; readonly id: string }
  | {
      readonly type: 'elicitation_closed';
      readonly id: string;
      readonly action: 'accept' | 'decline' | 'cancel';
      readonly answer?: string;
      readonly by: 'user' | 'turn' | 'agent' | 'exit';
    }
  /** All background work; replaces the previous list. */
  | { readonly type: 'background'; readonly work: readonly BackgroundItem[] }
  /** `running`, `idle`, `requires_action`, or another value, which counts as busy. */
  | { readonly type: 'agent_state'; readonly state: string }
  // Turns.
  | { readonly type: 'turn_started'; readonly turnId: string; readonly origin: 'user' | 'agent'; readonly at: number }
  | ({
      readonly type: 'turn_ended';
      readonly turnId: string;
      readonly stopReason: StopReason;
      /** Absent in an imported session whose file does not say. */
      readonly barrier?: Barrier;
      readonly at: number;
      readonly note?: LocalizableText;
      /** Only with `error`: the agent was stopped because the window or session was closed. */
      readonly interrupted?: true;
    } & TurnTokens)
  /** The stop reason of a turn that has already ended (the response came after the barrier). */
  | ({ readonly type: 'turn_reason'; readonly turnId: string; readonly stopReason: StopReason } & TurnTokens)
  | { readonly type: 'cancel_requested'; readonly turnId: string }
  /** Changes on disk during a turn; replaces the previous value. */
  | ({ readonly type: 'turn_changes'; readonly turnId: string } & TurnChanges)
  /** The agent's ids start over: a later event with an old id is about something new. */
  | { readonly type: 'ids_renewed'; readonly known?: readonly string[] }
  /** The agent's replay showed content that is missing here. */
  | {
      readonly type: 'restored';
      readonly entryId: string;
      readonly text?: string;
      readonly events?: readonly RestoredEvent[];
    }
  /** Turns that follow ran elsewhere, until the next turn starts here. */
  | { readonly type: 'replay_resumed' }
  | { readonly type: 'replay_ended' }
  /** The agent started a replayed turn itself. The user's turns start with their message. */
  | { readonly type: 'replayed_turn' }
  /** How, and if known when, the last replayed turn ended, or ended after all. */
  | ({
      readonly type: 'replayed_end';
      readonly stopReason: StopReason;
      readonly barrier?: Barrier;
      readonly endedAt?: number;
    } & TurnTokens)
  // A loaded session is replayed into an empty transcript until its first turn starts; some agents
  // replay after their response.
  | { readonly type: 'cleared'; readonly replay?: true };

export interface TurnChanges {
  readonly folders: readonly {
    readonly root: string;
    readonly before: string;
    /** Absent: the turn is running, or its end was not seen. */
    readonly after?: string;
  }[];
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  /**
   * Why more may have changed: the first state may be from after the agent began to write, the end
   * was not seen and the last state is from the next start, or the folder has no git repository, is
   * too large, has too many repositories below it, or could not be read.
   */
  readonly incomplete?: 'late' | 'interrupted' | 'no-git' | 'too-large' | 'repositories' | 'failed';
  /** Absolute paths of changed files that the user also edited during the turn. */
  readonly alsoYours?: readonly string[];
  /**
   * Absolute paths of changed files that nothing in the turn named: others may have changed them.
   */
  readonly unnamed?: readonly string[];
  /** There are more such files than listed, so no file of the turn counts as only the agent's. */
  readonly hasMoreUnnamed?: true;
  readonly writtenDifferently?: readonly WrittenDifferently[];
}

export interface WrittenDifferently {
  readonly toolCallId: string;
  readonly path: string;
}

export type GapState = 'loading' | 'retryable' | 'final' | 'unloaded';

export interface RemoteContent {
  readonly url: string;
  readonly mimeType: string;
  readonly name?: string;
}

/** The content of a gap, with its original time in ms since 1970. */
export interface GapFilling {
  readonly gapId: string;
  readonly at: number;
  readonly events: readonly PastEvent[];
}

export type PastEvent = EventOf<'message' | 'message_chunk' | 'tool_call' | 'notice' | 'gap'>;

export type RestoredEvent = EventOf<
  'message_chunk' | 'message' | 'tool_call' | 'plan' | 'plan_document' | 'notice' | 'unknown_update' | 'error'
>;

export interface BackgroundItem {
  readonly type: string;
  readonly id: string;
}

export interface TerminalExit {
  readonly exitCode?: number;
  readonly signal?: string;
}

export interface TimedEvent {
  readonly at: number;
  readonly event: SessionEvent;
  readonly begins?: true;
  readonly mark?: Mark;
}

/** A position in the transcript, as the number of entries and turns before it. */
export interface Mark {
  readonly entries: number;
  readonly turns: number;
  readonly turn?: string;
}
