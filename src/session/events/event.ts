// The one vocabulary of what happens in a session, shaped like protocol v2: upserts by id, chunks that append, turns with a beginning and an end. Adapters of
// the dialects produce these; the reducer turns them into state. Events are plain JSON: a recorded list of them replays to the same state.
import type {
  AvailableCommand,
  ConfigOption,
  ContentBlock,
  PermissionOption,
  PlanEntry,
  SessionMode,
  ToolContent,
  ToolLocation,
  ToolStatus,
  TurnTokens,
  Usage,
} from './content';
import type { ElicitationBody } from './form';

export type MessageRole = 'user' | 'agent' | 'thought';

/** Why a turn ended; `unknown` where the agent did not say. */
export type StopReason =
  | 'end_turn'
  | 'cancelled'
  | 'refusal'
  | 'max_tokens'
  | 'max_turn_requests'
  | 'error'
  | 'unknown';

/** What made it known that the turn was over. */
export type Barrier = 'turn_complete' | 'state' | 'response' | 'timeout' | 'exit';

/** Fields of a tool call; absent means unchanged, null means cleared. `content` and `locations` replace what was there. */
export interface ToolPatch {
  readonly title?: string | null;
  readonly name?: string | null;
  readonly kind?: string | null;
  readonly status?: ToolStatus | null;
  readonly content?: readonly ToolContent[] | null;
  readonly locations?: readonly ToolLocation[] | null;
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
  /** This call may be asked to stop by itself (v2 `capabilities.cancel`). */
  readonly canCancel?: boolean;
}

/** Everything that changes a session. Times (`at`) are milliseconds since 1970. */
export type SessionEvent =
  // What was said.
  | {
      readonly type: 'message_chunk';
      readonly role: MessageRole;
      readonly messageId?: string;
      readonly block: ContentBlock;
    }
  /** What stands last is whole: text without an id that comes next begins a message of its own. */
  | { readonly type: 'message_ended' }
  /** A message whole: `content` replaces what was there, null empties it, absent leaves it. */
  | {
      readonly type: 'message';
      readonly role: MessageRole;
      readonly messageId: string;
      readonly content?: readonly ContentBlock[] | null;
    }
  /** One more content of a tool call, after those that it has. */
  | { readonly type: 'tool_content'; readonly toolCallId: string; readonly part: ToolContent }
  | {
      readonly type: 'tool_call';
      readonly toolCallId: string;
      readonly patch: ToolPatch /** True for `tool_call`, false for an update. */;
      readonly announced: boolean;
    }
  | { readonly type: 'plan'; readonly planId: string; readonly entries: readonly PlanEntry[] }
  /** A plan that is a text, or a file somewhere. */
  | {
      readonly type: 'plan_document';
      readonly planId: string;
      readonly document:
        | { readonly type: 'markdown'; readonly text: string }
        | { readonly type: 'file'; readonly uri: string };
    }
  | { readonly type: 'plan_removed'; readonly planId: string }
  /** A session that the agent runs for this one. Absent: unchanged; null: no longer known. */
  | {
      readonly type: 'subagent';
      readonly sessionId: string;
      readonly title?: string | null;
      readonly description?: string | null;
      /** `running`, `idle`, `requires_action`; another word counts as busy. */
      readonly state?: string | null;
      /** Its work can be stopped by `session/cancel` with its id (`capabilities.cancel`). */
      readonly canCancel?: boolean;
    }
  /** What a subagent said or did by itself, shortly: text that goes on, or the title of a tool call. */
  | { readonly type: 'subagent_said'; readonly sessionId: string; readonly text: string; readonly messageId?: string }
  | { readonly type: 'subagent_did'; readonly sessionId: string; readonly title: string }
  /** The agent is gone, and its subagents with it. */
  | { readonly type: 'subagents_ended' }
  /** A message between sessions; absent fields are unchanged, `text` replaces what `append` made. */
  | {
      readonly type: 'session_message';
      readonly messageId: string;
      readonly sender?: string | null;
      readonly recipient?: string | null;
      readonly text?: string;
      readonly append?: string;
    }
  | {
      readonly type: 'notice';
      readonly severity: string;
      readonly title: string;
      readonly description?: string;
      /** Said by the client itself, not by the agent. */
      readonly own?: true;
      /** A button of the client's own; its id means something to the workbench alone. */
      readonly action?: { readonly id: string; readonly label: string };
      /** A session from elsewhere begins here: it is worth keeping before anything is said in it. */
      readonly opens?: true;
      /** It says that the agent knows nothing of what stands above, and is told with the next message. */
      readonly beginsAnew?: true;
    }
  /** A message of a session from elsewhere is missing in its place: added, or said anew of a gap that is known. */
  | {
      readonly type: 'gap';
      readonly gapId: string;
      readonly text: string;
      readonly state: GapState;
      /** Where the content is; absent: the message that it is part of says so, or what was said before of this gap. */
      readonly remote?: RemoteContent;
    }
  /** As many `gap` events with the ids `<prefix><first>` and on: the messages of a session whose history is being loaded. */
  | {
      readonly type: 'gaps';
      readonly prefix: string;
      readonly first: number;
      readonly count: number;
      readonly text: string;
      readonly state: GapState;
    }
  /** What was missing is there. */
  | ({ readonly type: 'gap_filled' } & GapFilling)
  /** Several `gap_filled` at once: making room for them costs as much as for one. */
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
      readonly message: string;
      readonly hint?: string;
      readonly stderr?: string;
      /** Ways to send the prompt of the turn again, as buttons of the client's own. */
      readonly actions?: readonly { readonly id: string; readonly label: string }[];
    }
  // What the session is.
  | { readonly type: 'commands'; readonly commands: readonly AvailableCommand[] }
  | { readonly type: 'modes'; readonly current: string; readonly modes: readonly SessionMode[] }
  | { readonly type: 'mode'; readonly current: string }
  | { readonly type: 'config'; readonly options: readonly ConfigOption[] }
  | { readonly type: 'info'; readonly title?: string | null; readonly updatedAt?: string | null }
  | { readonly type: 'usage'; readonly usage: Usage }
  // Display-only terminals and the client's own: output so far is `output`, or grows by `append`.
  | {
      readonly type: 'terminal';
      readonly terminalId: string;
      readonly command?: string;
      readonly cwd?: string;
      readonly output?: string;
      readonly append?: string;
      readonly truncated?: boolean;
      /** Null: it runs after all. */
      readonly exit?: TerminalExit | null;
      readonly released?: boolean;
      /** It may be asked to stop by itself (v2 `capabilities.cancel`). */
      readonly canCancel?: boolean;
    }
  // The user's side.
  | {
      readonly type: 'prompt_sent';
      readonly turnId: string;
      readonly promptId: string;
      readonly content: readonly ContentBlock[];
      /** The agent's id of the message, where it is known already. */
      readonly messageId?: string;
      /** The text that went to the agent, and that it may repeat, where that is more than the content. */
      readonly echo?: string;
    }
  /** The agent has taken a prompt in, as the message of this id. */
  | { readonly type: 'prompt_inserted'; readonly promptId: string; readonly messageId: string }
  | {
      readonly type: 'permission_asked';
      readonly permissionId: string;
      readonly toolCallId?: string;
      readonly title: string;
      readonly description?: string;
      readonly command?: { readonly line: string; readonly cwd?: string };
      readonly options: readonly PermissionOption[];
    }
  | {
      readonly type: 'permission_closed';
      readonly permissionId: string;
      readonly outcome: 'selected' | 'cancelled';
      readonly optionId?: string;
      readonly by: 'user' | 'turn' | 'agent' | 'exit';
    }
  // Questions that are a form or a page in the browser. `id` is ours.
  | ({
      readonly type: 'elicitation_asked';
      readonly id: string;
      readonly toolCallId?: string;
      readonly message: string;
    } & ElicitationBody)
  /** The page was opened, and the agent was told so; what comes of it, only the agent knows. */
  | { readonly type: 'elicitation_opened'; readonly id: string }
  | {
      readonly type: 'elicitation_closed';
      readonly id: string;
      readonly action: 'accept' | 'decline' | 'cancel';
      /** What the user answered to a form, in words. */
      readonly answer?: string;
      readonly by: 'user' | 'turn' | 'agent' | 'exit';
    }
  /** All work that goes on beside the turns; it replaces what was known. */
  | { readonly type: 'background'; readonly work: readonly BackgroundItem[] }
  /** What the agent says of itself: `running`, `idle`, `requires_action`, or its own word for being busy. */
  | { readonly type: 'agent_state'; readonly state: string }
  // Turns.
  | { readonly type: 'turn_started'; readonly turnId: string; readonly origin: 'user' | 'agent'; readonly at: number }
  | ({
      readonly type: 'turn_ended';
      readonly turnId: string;
      readonly stopReason: StopReason;
      readonly barrier: Barrier;
      readonly at: number;
      readonly note?: string;
      /** With `error`: nothing failed. Its agent was ended while it ran, as a window or a session was closed. */
      readonly interrupted?: true;
    } & TurnTokens)
  /** The reason of a turn that has ended already, known only now (the response came after the barrier). */
  | ({ readonly type: 'turn_reason'; readonly turnId: string; readonly stopReason: StopReason } & TurnTokens)
  | { readonly type: 'cancel_requested'; readonly turnId: string }
  /**
   * The agent is another process now, or the session another one of its: an id that comes from here on names something new. `known`: what it has repeated under the
   * ids that stand here, as {@link idOf} writes them; these go on.
   */
  | { readonly type: 'ids_renewed'; readonly known?: readonly string[] }
  /**
   * The agent has shown that something is missing here: `text` is the end of the message that is the entry `entryId`, `events` make one entry behind it and behind all
   * that was restored there before.
   */
  | {
      readonly type: 'restored';
      readonly entryId: string;
      readonly text?: string;
      readonly events?: readonly RestoredEvent[];
    }
  /** What comes now are turns that were held elsewhere, until the next turn begins here. */
  | { readonly type: 'replay_resumed' }
  // Replay of a loaded session begins on an empty transcript, and lasts until the first turn begins: some agents replay after their answer.
  | { readonly type: 'cleared'; readonly replay?: true };

/** It is being loaded, may be there when it is asked for again, cannot be had, or is loaded when the user wants it. */
export type GapState = 'loading' | 'retryable' | 'final' | 'unloaded';

/** Content of a message that lies behind an `http:` or `https:` address of its own. */
export interface RemoteContent {
  readonly url: string;
  readonly mimeType: string;
  /** Of a file; absent: it is part of the text. */
  readonly name?: string;
}

/** What stands in the place of a gap, at the time at which it was said, in ms since 1970. */
export interface GapFilling {
  readonly gapId: string;
  readonly at: number;
  readonly events: readonly PastEvent[];
}

/** What a message of the past consists of; a gap stands for a part of it that is not there. */
export type PastEvent = Extract<SessionEvent, { type: 'message' | 'message_chunk' | 'tool_call' | 'notice' | 'gap' }>;

/** What an entry that an agent has shown consists of. */
export type RestoredEvent = Extract<
  SessionEvent,
  { type: 'message_chunk' | 'message' | 'tool_call' | 'plan' | 'plan_document' | 'notice' | 'unknown_update' | 'error' }
>;

/** Work beside the turns: `type` is `tool_call`, `terminal`, `subagent` or the agent's own word, `id` is of what that names. */
export interface BackgroundItem {
  readonly type: string;
  readonly id: string;
}

export interface TerminalExit {
  readonly exitCode?: number;
  readonly signal?: string;
}

/** An event and when it came, as the reducer takes it. */
export interface TimedEvent {
  readonly at: number;
  readonly event: SessionEvent;
  /** It has begun an entry. */
  readonly begins?: true;
  /** Where the transcript stood before it. A transcript can be read from such an event on. */
  readonly mark?: Mark;
}

/** So many entries and turns stand before a place in the transcript; `turn`: the id of the last of them where it runs there. */
export interface Mark {
  readonly entries: number;
  readonly turns: number;
  readonly turn?: string;
}
