// What the journal gives and takes beside the events. Times are milliseconds since 1970.
import type { Usage } from '../session/content';
import type { Barrier, StopReason } from '../session/event';
import type { QueuedAttachment, QueueItem } from '../session/queue';

export type JournalProtocol = 1 | 2 | 'communication';

/** A session that begins. */
export interface NewSession {
  /** Unique among all sessions of all windows. */
  readonly key: string;
  readonly agentId: string;
  readonly agentSessionId?: string;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly title?: string;
  readonly protocol: JournalProtocol;
}

/** What may change later; null removes. */
export interface SessionPatch {
  readonly agentId?: string;
  readonly agentSessionId?: string | null;
  readonly cwd?: string;
  readonly roots?: readonly string[];
  readonly title?: string | null;
  readonly protocol?: JournalProtocol;
  readonly archived?: boolean;
  /** Why it ended, in a word or a sentence; null: it goes on. */
  readonly ended?: string | null;
}

export interface SessionRecord extends NewSession {
  /** The beginning of the first prompt, for a session without a title. */
  readonly preview?: string;
  readonly createdAt: number;
  /** The newest event or change of the title. */
  readonly updatedAt: number;
  readonly archived: boolean;
  readonly ended?: { readonly at: number; readonly why: string };
  /** Why the queue waits; absent while it runs. */
  readonly queuePaused?: string;
  /** Sequence number of the newest event; 0 where there is none. */
  readonly lastSeq: number;
  /** Characters of its events, about its size on the disk. */
  readonly bytes: number;
}

/** What is known of a turn without reading its events. */
export interface TurnRecord {
  readonly id: string;
  readonly origin: 'user' | 'agent';
  readonly firstSeq: number;
  readonly startedAt: number;
  readonly firstOutputAt?: number;
  readonly endedAt?: number;
  readonly stopReason?: StopReason;
  readonly barrier?: Barrier;
  readonly note?: string;
  readonly tokens?: number;
  /** Cost of the session as last reported in this turn. */
  readonly cost?: NonNullable<Usage['cost']>;
  /** Tool calls announced. */
  readonly tools: number;
}

export type StoredQueueItem = Readonly<QueueItem>;

export interface Draft {
  readonly text: string;
  readonly attachments: readonly QueuedAttachment[];
}

/** A permission that was answered, and who or what answered it. */
export interface Decision {
  readonly permissionId: string;
  readonly title: string;
  readonly toolKind?: string;
  readonly outcome: 'selected' | 'cancelled';
  readonly optionId?: string;
  readonly optionName?: string;
  readonly by: 'user' | 'turn' | 'agent' | 'exit';
  readonly at: number;
}

/** Where the reader was: an entry of the transcript and how far its top is from the top of the view, in CSS pixels. */
export interface ViewState {
  readonly anchor?: string;
  readonly offset?: number;
  readonly atEnd: boolean;
}
