// What the journal gives and takes beside the events. Times are milliseconds since 1970.
import type { QueuedAttachment, QueueItem } from '../../session/queue/queue';

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
  /** Why it ended, in a word or a sentence; null: it goes on. */
  readonly ended?: string | null;
}

export interface SessionRecord extends NewSession {
  /** The beginning of the first prompt, for a session without a title. */
  readonly preview?: string;
  readonly createdAt: number;
  /** The newest event or change of the title. */
  readonly updatedAt: number;
  readonly ended?: { readonly at: number; readonly why: string };
  /** Why the queue waits; absent while it runs. */
  readonly queuePaused?: string;
  /** Sequence number of the newest event; 0 where there is none. */
  readonly lastSeq: number;
  /** Bytes of its events, about its size on the disk. */
  readonly bytes: number;
}

export type StoredQueueItem = Readonly<QueueItem>;

export interface Draft {
  readonly text: string;
  /** Grows with each change of the text; it is kept also where nothing is left of the draft. */
  readonly revision: number;
  readonly attachments: readonly QueuedAttachment[];
}

/** Where the reader was: an entry of the transcript and how far its top is from the top of the view, in CSS pixels. */
export interface ViewState {
  readonly anchor?: string;
  readonly offset?: number;
  readonly atEnd: boolean;
}
