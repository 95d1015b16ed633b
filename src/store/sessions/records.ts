// Types of the journal other than events. Times are in ms since 1970.
import type { QueuedAttachment, QueueItem } from '../../session/queue/queue';

export type JournalProtocol = 1 | 2 | 'communication';

export interface NewSession {
  readonly key: string;
  readonly agentId: string;
  readonly agentSessionId?: string;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly title?: string;
  readonly protocol: JournalProtocol;
}

export interface SessionPatch {
  readonly agentId?: string;
  readonly agentSessionId?: string | null;
  readonly cwd?: string;
  readonly roots?: readonly string[];
  readonly title?: string | null;
  readonly protocol?: JournalProtocol;
  readonly ended?: string | null;
}

export interface SessionRecord extends NewSession {
  readonly preview?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly ended?: { readonly at: number; readonly why: string };
  readonly queuePaused?: string;
  /** Sequence number of the newest event; 0 if there is none. */
  readonly lastSeq: number;
  readonly bytes: number;
}

export type StoredQueueItem = Readonly<QueueItem>;

export interface Draft {
  readonly text: string;
  readonly revision: number;
  readonly attachments: readonly QueuedAttachment[];
}

export interface ViewState {
  readonly anchor?: string;
  readonly offset?: number;
  readonly atEnd: boolean;
}
