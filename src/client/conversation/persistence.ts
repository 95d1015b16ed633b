// Where a conversation is stored. The composition root implements it; without one, a conversation
// lives in memory only.
import type { Anchor, DraftView } from '../../panel/contract';
import type { TimedEvent } from '../../session/events/event';
import type { SessionModel } from '../../session/model/model';
import type { QueuedAttachment, QueueItem, QueueItemState, StateFacts } from '../../session/queue/queue';

/** A message of the queue, as it is kept. */
export type KeptItem = Readonly<QueueItem>;

/**
 * Keeps the queue. Each call is on the disk when it returns, or the user has been told that it is
 * not; none throws.
 */
export interface QueuePersistence {
  added(item: KeptItem, place: 'first' | 'last'): void;
  changed(id: string, change: { readonly text?: string; readonly held?: boolean }): void;
  state(id: string, state: QueueItemState, facts: StateFacts): void;
  order(ids: readonly string[]): void;
  removed(id: string): void;
  paused(reason: string | undefined): void;
}

/** How far the lines of the agent were read, with the events that came from them. */
export interface ReadProgress {
  readonly json: string;
  /** To be called before it is kept, with the ends of texts that are not: a secret may begin with them. */
  readonly holdBack: (events: readonly TimedEvent[]) => void;
  /** Called once this or a later one survives the process. */
  readonly stored: () => void;
}

/** Keeps one conversation. No method throws. */
export interface ConversationPersistence extends QueuePersistence {
  /**
   * Makes the session this window's own, which the first write does too. A session that is only
   * read stays free.
   * @returns false where another window has it, or has continued it since it was read
   */
  claim(): boolean;
  /** Finds out whether the session is still this window's, as each write does. */
  verify(): void;
  /**
   * Keeps all that is told during `run` in one go: all of it is on the disk when the call returns,
   * or none.
   */
  together(run: () => void): void;
  /**
   * What happened, in order. Prompts, permissions and the ends of turns are on the disk when the
   * call returns.
   * @param progress is kept with them: both survive, or neither
   */
  events(events: readonly TimedEvent[], progress?: ReadProgress): void;
  /** The agent's side of the session; undefined: not changed, null: removed. */
  describe(facts: {
    readonly agentId?: string;
    readonly agentSessionId?: string | null;
    readonly protocol?: 1 | 2 | 'communication';
    readonly title?: string;
  }): void;
  draft(draft: DraftView, attachments: readonly QueuedAttachment[]): void;
  /** Where the reader is; undefined: at the end. */
  place(anchor: Anchor | undefined): void;
}

/** What was kept of a conversation, to continue. */
export interface KeptConversation {
  /** The model that its events made; the caller owns it. */
  readonly model: SessionModel;
  /**
   * Where `model` has only the end of the transcript so far: reads all of it, a little at a time.
   * @throws ParleyError `journal-unreadable`
   */
  readonly whole?: () => Promise<SessionModel>;
  /** With `whole`: ids of messages up to this number may stand in what is not read yet. */
  readonly usedIds?: number;
  readonly queue: readonly KeptItem[];
  /** Why the queue waits. */
  readonly paused?: string;
  readonly draft: DraftView;
  readonly attachments: readonly QueuedAttachment[];
  /** Where the reader was, when not at the end. */
  readonly anchor?: Anchor;
  /** How far the lines of its agent were read, as it was given with the last events. */
  readonly progress?: string;
  /** The agent's id of its session, to open it again. */
  readonly agentSessionId?: string;
}
