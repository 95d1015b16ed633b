// Stores one conversation in the journal, which reports failures through its own state.
import { messageOf, ParleyError } from '../../base/errors';
import type { Log } from '../../base/log';
import { knownSecrets } from '../../base/redact';
import { roughSize } from '../../base/text';
import type {
  ConversationPersistence,
  KeptConversation,
  KeptItem,
  ReadProgress,
} from '../../client/conversation/persistence';
import type { Anchor, DraftView } from '../../panel/contract';
import { boundEvent } from '../../session/events/bounds';
import type { SessionEvent, TimedEvent } from '../../session/events/event';
import { SessionModel } from '../../session/model/model';
import type { QueuedAttachment, QueueItemState, StateFacts } from '../../session/queue/queue';
import { putMedia, takeMedia } from '../../store/events/rowCodec';
import type { Journal } from '../../store/journal';
import type { SessionRecord, ViewState } from '../../store/sessions/records';
import { StreamRedaction } from '../log/streamRedaction';
import { TranscriptReading } from './transcriptReading';

export interface JournalPersistenceOptions {
  readonly journal: Journal;
  readonly log: Log;
  readonly windowId: string;
  readonly session: {
    readonly key: string;
    readonly agentId: string;
    readonly cwd: string;
    readonly roots: readonly string[];
  };
  readonly onLost?: () => void;
}

type Change = (journal: Journal, key: string) => void;

const MAX_EVENTS_BEFORE_START = 2000;
const MAX_CHARS_BEFORE_START = 8 * 1024 * 1024;

export class JournalPersistence implements ConversationPersistence {
  readonly #options: JournalPersistenceOptions;
  /** Nothing is written before the user's first message. */
  #isStored: boolean;
  readonly #eventsBeforeStart: TimedEvent[] = [];
  #charsBeforeStart = 0;
  readonly #redaction = new StreamRedaction();
  #description: Parameters<ConversationPersistence['describe']>[0] = {};
  /** Newest event read of a session that is not claimed yet. */
  #lastReadSeq: number | undefined;
  #batch:
    | { readonly events: TimedEvent[]; readonly changes: Change[]; progress?: ReadProgress | undefined }
    | undefined;
  /** Another window took over the session, and only that window writes it. */
  #isLost = false;

  constructor(options: JournalPersistenceOptions, known: boolean) {
    const { journal, session } = options;
    this.#options = options;
    this.#isStored = known;
    if (known) this.#lastReadSeq = journal.session(session.key)?.lastSeq ?? 0;
  }

  /** Nothing was written since the session was read, so other windows may have it. */
  get isUnclaimed(): boolean {
    return this.#lastReadSeq !== undefined;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  claim(): boolean {
    const { journal, windowId, session, log, onLost } = this.#options;
    if (this.#lastReadSeq === undefined) return !this.#isLost;
    const lastReadSeq = this.#lastReadSeq;
    this.#lastReadSeq = undefined;
    try {
      const isOurs = journal.claim(session.key, windowId).kind === 'owned';
      this.#isLost = !isOurs || journal.session(session.key)?.lastSeq !== lastReadSeq;
      // The content read here is outdated, so it is read again before anything is added.
      if (isOurs && this.#isLost) journal.release(session.key, windowId);
    } catch (error) {
      log.error(`journal: ${messageOf(error)}`);
    }
    if (this.#isLost) onLost?.();
    return !this.#isLost;
  }

  verify(): void {
    if (this.#isStored) this.#write((journal, key) => journal.requireOwn(key));
  }

  together(run: () => void): void {
    const all: { events: TimedEvent[]; changes: Change[]; progress?: ReadProgress | undefined } = {
      events: [],
      changes: [],
    };
    this.#batch = all;
    try {
      run();
    } finally {
      this.#batch = undefined;
    }
    const { events, changes, progress } = all;
    if (changes.length === 0 && (events.length > 0 || !progress)) this.events(events, progress);
    else {
      const stored = this.#toStoredEvents(events, progress);
      this.#write((journal, key) => {
        const run = changes.map((change) => () => change(journal, key));
        journal.together(key, stored, run, (error) => this.#options.log.debug(`journal: ${error.message}`), progress);
      });
    }
  }

  events(events: readonly TimedEvent[], progress?: ReadProgress): void {
    if (events.length === 0 && !(this.#batch && progress)) return;
    if (this.#batch) {
      this.#batch.events.push(...events);
      this.#batch.progress = progress ?? this.#batch.progress;
      return;
    }
    const bounded = this.#toStoredEvents(events, progress);
    if (this.#isStored || events.some(({ event }) => isWorthKeeping(event))) {
      this.#write((journal, key) => journal.append(key, bounded, progress));
    } else {
      this.#charsBeforeStart += roughSize(bounded, MAX_CHARS_BEFORE_START);
      const fits =
        this.#charsBeforeStart <= MAX_CHARS_BEFORE_START &&
        this.#eventsBeforeStart.length + bounded.length <= MAX_EVENTS_BEFORE_START;
      if (fits) this.#eventsBeforeStart.push(...bounded);
    }
  }

  #toStoredEvents(events: readonly TimedEvent[], progress: ReadProgress | undefined): TimedEvent[] {
    const stored = this.#redaction.take(events).map(toStoredEvent);
    progress?.holdBack(this.#redaction.held);
    return stored;
  }

  describe(facts: Parameters<ConversationPersistence['describe']>[0]): void {
    this.#description = { ...this.#description, ...facts };
    if (this.#isStored) this.#write((journal, key) => journal.updateSession(key, facts));
  }

  added(item: KeptItem, place: 'first' | 'last'): void {
    this.#write((journal, key) => journal.queue.enqueue(key, item, place));
  }

  changed(id: string, change: { readonly text?: string; readonly held?: boolean }): void {
    this.#write((journal, key) => journal.queue.edit(key, id, change));
  }

  state(id: string, state: QueueItemState, facts: StateFacts): void {
    this.#write((journal, key) => journal.queue.setState(key, id, state, facts));
  }

  order(ids: readonly string[]): void {
    this.#write((journal, key) => journal.queue.reorder(key, ids));
  }

  removed(id: string): void {
    this.#write((journal, key) => journal.queue.remove(key, id));
  }

  paused(reason: string | undefined): void {
    if (this.#isStored) this.#write((journal, key) => journal.queue.setPaused(key, reason));
  }

  draft(draft: DraftView, attachments: readonly QueuedAttachment[]): void {
    if (!this.#isStored && draft.text === '' && attachments.length === 0) return;
    this.#write((journal, key) => journal.side.saveDraft(key, { ...draft, attachments }));
  }

  place(anchor: Anchor | undefined): void {
    if (!this.#isStored) return;
    const view = anchor ? { anchor: String(anchor.index), offset: anchor.offset, atEnd: false } : { atEnd: true };
    // Reading alone does not claim the session.
    this.#write((journal, key) => journal.side.saveView(key, view), false);
  }

  #write(change: Change, claims = true): void {
    const { journal, log, session } = this.#options;
    if (this.#isLost || (claims && !this.claim())) return;
    if (this.#batch) {
      this.#batch.changes.push(change);
      return;
    }
    try {
      if (!this.#isStored) this.#create();
      change(journal, session.key);
    } catch (error) {
      this.#isLost = error instanceof ParleyError && error.code === 'session-held';
      // An item that was already removed or sent is no loss; the journal's state reports others.
      const harmless = error instanceof ParleyError && error.code.startsWith('queue-');
      log[harmless ? 'debug' : 'error'](`journal: ${messageOf(error)}`);
    }
  }

  #create(): void {
    const { journal, windowId, session } = this.#options;
    const { agentId = session.agentId, agentSessionId, protocol = 1, title } = this.#description;
    journal.saveSession({
      ...session,
      agentId,
      protocol,
      agentSessionId: agentSessionId ?? undefined,
      title,
    });
    journal.claim(session.key, windowId);
    this.#isStored = true;
    journal.append(session.key, this.#eventsBeforeStart);
    this.#eventsBeforeStart.length = 0;
  }
}

/** The user's messages are sent from the journal, so they stay unchanged. */
function withoutSecrets(event: SessionEvent): SessionEvent {
  if (knownSecrets.isEmpty || event.type === 'prompt_sent' || ('role' in event && event.role === 'user')) return event;
  if (isPlainChunk(event)) return event;
  const text = takeMedia(event);
  const json = knownSecrets.redact(text.json);
  return json === text.json ? event : (putMedia({ ...text, json }) as SessionEvent);
}

/** Returns whether {@link StreamRedaction} has redacted all text of a chunk. */
function isPlainChunk(event: SessionEvent): boolean {
  if (event.type !== 'message_chunk' || event.block.type !== 'text') return false;
  for (const field in event) if (!PLAIN_FIELDS.has(field)) return false;
  for (const field in event.block) if (field !== 'type' && field !== 'text') return false;
  return event.messageId === undefined || knownSecrets.redact(event.messageId) === event.messageId;
}

const PLAIN_FIELDS: ReadonlySet<string> = new Set(['type', 'role', 'block', 'messageId']);

function toStoredEvent(timed: TimedEvent): TimedEvent {
  return { ...timed, event: withoutSecrets(boundEvent(timed.event)) };
}

function isWorthKeeping(event: SessionEvent): boolean {
  return event.type === 'turn_started' || (event.type === 'notice' && event.opens === true);
}

/** Sessions up to this size are read in one step of a few milliseconds. */
const SMALL_BYTES = 192 * 1024;
const SMALL_READ_BYTES = 1024 * 1024;
const SMALL_ROWS = 2000;
/** Entries at the end of a larger session to read first: more than a window shows. */
const TAIL_ENTRIES = 128;

/**
 * Reads a stored conversation; of a long one the end, and how to read the rest.
 * @throws ParleyError `journal-unknown-session`, `journal-unreadable`
 */
export function readKept(
  journal: Journal,
  key: string,
  reading = new TranscriptReading(journal, key),
): KeptConversation {
  const session = journal.session(key);
  if (!session) throw new ParleyError('journal-unknown-session', `The journal knows no session ${key}.`);
  const draft = journal.side.draft(key);
  const anchor = anchorOf(journal.side.view(key));
  const progress = journal.side.progress(key);
  const isSmall =
    session.bytes <= SMALL_BYTES && session.lastSeq <= SMALL_ROWS && journal.readSize(key) <= SMALL_READ_BYTES;
  return {
    ...(isSmall ? { model: reading.finish() } : beginAtEnd(journal, session, reading)),
    queue: journal.queue.items(key),
    draft: { text: draft?.text ?? '', revision: draft?.revision ?? 0 },
    attachments: draft?.attachments ?? [],
    anchor,
    paused: session.queuePaused,
    progress,
    agentSessionId: session.agentSessionId,
  };
}

function beginAtEnd(
  journal: Journal,
  { key, lastSeq }: SessionRecord,
  reading: TranscriptReading,
): Pick<KeptConversation, 'model' | 'whole' | 'usedIds'> {
  const end = journal.tail(key, TAIL_ENTRIES);
  const { events } = end ? journal.events(key, { from: end.from, to: lastSeq }) : { events: [] };
  const model = SessionModel.after(end?.mark ?? { entries: 0, turns: 0 }, events[0]?.at ?? 0);
  for (const { at, event } of events) model.apply(event, at);
  model.beginLive();
  return { model, whole: () => reading.finishSlowly(lastSeq), usedIds: lastSeq };
}

function anchorOf(view: ViewState | undefined): Anchor | undefined {
  const index = Number(view?.anchor);
  return view && !view.atEnd && Number.isInteger(index) ? { index, offset: view.offset ?? 0 } : undefined;
}
