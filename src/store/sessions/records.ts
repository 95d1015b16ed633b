// Types of the journal other than events. Times are in ms since 1970.
import type { QueuedAttachment, QueueItem } from '../../session/queue/queue';

export type JournalProtocol = 1 | 2 | 'communication';

/** A new session. */
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

/** Fields that can change later; null removes. */
export interface SessionPatch {
  readonly agentId?: string;
  readonly agentSessionId?: string | null;
  readonly cwd?: string;
  readonly roots?: readonly string[];
  readonly title?: string | null;
  readonly protocol?: JournalProtocol;
  /** Why it ended, as a word or a sentence; null: it is active again. */
  readonly ended?: string | null;
}

export interface SessionRecord extends NewSession {
  /** The beginning of the first prompt, for sessions without a title. */
  readonly preview?: string;
  readonly createdAt: number;
  /** Time of the newest event or title change. */
  readonly updatedAt: number;
  readonly ended?: { readonly at: number; readonly why: string };
  /** Why the queue is paused; absent while it is running. */
  readonly queuePaused?: string;
  /** Sequence number of the newest event; 0 if there is none. */
  readonly lastSeq: number;
  /** Bytes of its events, approximately its size on disk. */
  readonly bytes: number;
}

export type StoredQueueItem = Readonly<QueueItem>;

export interface Draft {
  readonly text: string;
  /** Grows with each change of the text; kept even for an empty draft. */
  readonly revision: number;
  readonly attachments: readonly QueuedAttachment[];
}

/**
 * The scroll position: an entry and the distance of its top from the top of the view, in CSS
 * pixels.
 */
export interface ViewState {
  readonly anchor?: string;
  readonly offset?: number;
  readonly atEnd: boolean;
}
