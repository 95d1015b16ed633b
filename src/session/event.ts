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
  Usage,
} from './content';

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

/** Fields of a tool call; absent means unchanged. `content` and `locations` replace what was there. */
export interface ToolPatch {
  readonly title?: string;
  readonly name?: string;
  readonly kind?: string;
  readonly status?: ToolStatus;
  readonly content?: readonly ToolContent[];
  readonly locations?: readonly ToolLocation[];
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
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
  | {
      readonly type: 'tool_call';
      readonly toolCallId: string;
      readonly patch: ToolPatch /** True for `tool_call`, false for an update. */;
      readonly announced: boolean;
    }
  | { readonly type: 'plan'; readonly planId: string; readonly entries: readonly PlanEntry[] }
  | {
      readonly type: 'notice';
      readonly severity: string;
      readonly title: string;
      readonly description?: string;
      /** Said by the client itself, not by the agent. */
      readonly own?: true;
    }
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
      readonly exit?: TerminalExit;
      readonly released?: boolean;
    }
  // The user's side.
  | {
      readonly type: 'prompt_sent';
      readonly turnId: string;
      readonly promptId: string;
      readonly content: readonly ContentBlock[];
    }
  | {
      readonly type: 'permission_asked';
      readonly permissionId: string;
      readonly toolCallId?: string;
      readonly title: string;
      readonly options: readonly PermissionOption[];
    }
  | {
      readonly type: 'permission_closed';
      readonly permissionId: string;
      readonly outcome: 'selected' | 'cancelled';
      readonly optionId?: string;
      readonly by: 'user' | 'rule' | 'turn' | 'agent' | 'exit';
    }
  // Turns.
  | { readonly type: 'turn_started'; readonly turnId: string; readonly origin: 'user' | 'agent'; readonly at: number }
  | {
      readonly type: 'turn_ended';
      readonly turnId: string;
      readonly stopReason: StopReason;
      readonly barrier: Barrier;
      readonly at: number;
      readonly tokens?: number;
      readonly note?: string;
    }
  /** The reason of a turn that has ended already, known only now (the response came after the barrier). */
  | { readonly type: 'turn_reason'; readonly turnId: string; readonly stopReason: StopReason; readonly tokens?: number }
  | { readonly type: 'cancel_requested'; readonly turnId: string }
  // Replay of a loaded session begins on an empty transcript.
  | { readonly type: 'cleared' };

export interface TerminalExit {
  readonly exitCode?: number;
  readonly signal?: string;
}

/** An event and when it came, as the reducer takes it. */
export interface TimedEvent {
  readonly at: number;
  readonly event: SessionEvent;
}
