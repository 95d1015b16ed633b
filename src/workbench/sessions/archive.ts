// The stored sessions of all windows: stores and restores them, and reports disk failures.

import { randomUUID } from 'node:crypto';
import { type ExtensionContext, l10n, type Memento } from 'vscode';
import * as z from 'zod/mini';
import { Part } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import type { Log } from '../../base/log';
import { Slices } from '../../changes/lines/slices';
import type { ConversationPersistence, KeptConversation } from '../../client/conversation/persistence';
import type { StoredEvents } from '../../client/rules/pastRequests';
import type { TimedEvent } from '../../session/events/event';
import type { SessionModel } from '../../session/model/model';
import { Journal } from '../../store/journal';
import type { SearchResult } from '../../store/search/search';
import { sessionHeld } from '../../store/sessions/journalPort';
import type { QuestionStore } from '../../store/sessions/questionStore';
import type { SessionRecord } from '../../store/sessions/records';
import type { MarkedSession, SessionMarkStore } from '../../store/sessions/sessionMarks';
import { historyLimits } from '../config/settings';
import { showInfo, showWarning } from '../ui/messages';
import { JournalPersistence, type JournalPersistenceOptions, readKept } from './journalPersistence';
import { TranscriptReading } from './transcriptReading';

/** Delay after the start before old sessions are deleted, in ms. */
const PRUNE_AFTER_MS = 60_000;
/** Delay after a session was added or marked as deleted, in ms; it can be restored until then. */
const RESTORABLE_MS = 10 * 60_000;
const LOCKED_WARN_MS = 2000;
const MOST_AHEAD = 50_000;
const LAST_SESSION = 'parley.lastSession';
const SHOWN_SESSION = 'parley.shownSession';

interface Recalled {
  readonly record: SessionRecord;
  readonly kept: KeptConversation;
  /** Absent if another window has the session: it is read-only here. */
  readonly persistence?: JournalPersistence;
}

const PAGE = 500;

export class Archive extends Part {
  readonly #context: ExtensionContext;
  readonly #log: Log;
  readonly #windowId = randomUUID();
  readonly #abort = new AbortController();
  readonly #didDelete = this.own(new Emitter<readonly string[]>());
  readonly #didPrune = this.own(new Emitter<void>());
  readonly #didLoseSession = this.own(new Emitter<string>());
  readonly #didChangeElsewhere = this.own(new Emitter<void>());
  #journal: Journal | undefined;
  #pruneTimer: ReturnType<typeof setTimeout> | undefined;
  #warnTimer: ReturnType<typeof setTimeout> | undefined;
  #hasWarned = false;
  #readAhead: TranscriptReading | undefined;

  readonly newSessions: NewSessions;

  constructor(context: ExtensionContext, log: Log) {
    super();
    this.#context = context;
    this.#log = log;
    this.newSessions = new NewSessions(context.workspaceState);
    this.#didDelete.event((keys) => {
      for (const key of keys) this.newSessions.forget(key);
    });
  }

  readonly onDidDelete: Event<readonly string[]> = this.#didDelete.event;

  /** Fires after old sessions were deleted, so that their other data can go. */
  readonly onDidPrune: Event<void> = this.#didPrune.event;

  persist(session: JournalPersistenceOptions['session']): ConversationPersistence {
    const persistence = this.#persistenceOf(session, false);
    this.#pruneLater(this.#open(), RESTORABLE_MS);
    return persistence;
  }

  #persistenceOf(session: JournalPersistenceOptions['session'], known: boolean): JournalPersistence {
    const onLost = (): void => this.#didLoseSession.fire(session.key);
    const options = { journal: this.#open(), log: this.#log, windowId: this.#windowId, session, onLost };
    return new JournalPersistence(options, known);
  }

  /** The first write claims the session for this window. */
  recall(key: string): Recalled | undefined {
    const reading = this.#readAhead?.key === key ? this.#readAhead : undefined;
    this.#readAhead = undefined;
    try {
      const journal = this.#open();
      const record = journal.session(key);
      if (!record) return undefined;
      // The claim imports what a killed window left of it.
      const isHeld = journal.claim(key, this.#windowId).kind !== 'owned';
      try {
        const persistence = isHeld ? undefined : this.#persistenceOf(record, true);
        return { record, kept: readKept(journal, key, reading), persistence };
      } finally {
        if (!isHeld) journal.release(key, this.#windowId);
      }
    } catch (error) {
      this.#log.error(`session ${key} could not be read: ${messageOf(error)}`);
      return undefined;
    }
  }

  expect(key: string | undefined): void {
    if (this.#readAhead?.key === key) return;
    this.#readAhead = undefined;
    if (key === undefined) return;
    const reading = new TranscriptReading(this.#open(), key);
    this.#readAhead = reading;
    const readOn = (): void => {
      if (this.#readAhead !== reading) return;
      try {
        if (reading.advance() && reading.rows < MOST_AHEAD) setImmediate(readOn);
      } catch (error) {
        this.#readAhead = undefined;
        this.#log.debug(`session ${key} could not be read ahead: ${messageOf(error)}`);
      }
    };
    setImmediate(readOn);
  }

  /** Fires with a key after another window took over a session, which is no longer stored here. */
  readonly onDidLoseSession: Event<string> = this.#didLoseSession.event;

  isHeld(key: string): boolean {
    const owner = this.#open().owner(key);
    return owner !== undefined && owner.windowId !== this.#windowId;
  }

  get last(): string | undefined {
    return this.#context.workspaceState.get<string>(LAST_SESSION);
  }

  set last(key: string | undefined) {
    if (key !== this.last) void this.#context.workspaceState.update(LAST_SESSION, key);
  }

  /** The session that the chat panel showed last; {@link last} may be one in a tab. */
  get shown(): string | undefined {
    return this.#context.workspaceState.get<string>(SHOWN_SESSION);
  }

  set shown(key: string | undefined) {
    if (key !== this.shown) void this.#context.workspaceState.update(SHOWN_SESSION, key);
  }

  /** Returns the session that a killed window of this folder was in, if newer than {@link last}. */
  interrupted(folder: string): string | undefined {
    const journal = this.#open();
    const { last } = this;
    const [newest] = journal.abandoned().filter(({ key, cwd }) => cwd === folder && !journal.marks.isDeleted(key));
    const known = last === undefined ? undefined : journal.session(last);
    // The user was in a new session; others may have continued since.
    if (last !== undefined && !known && this.newSessions.find(last)) return undefined;
    return newest && newest.updatedAt > (known?.updatedAt ?? 0) ? newest.key : undefined;
  }

  list(limit: number, before?: SessionRecord): readonly SessionRecord[] {
    return this.#open().sessions({
      limit,
      before: before ? { updatedAt: before.updatedAt, key: before.key } : undefined,
    });
  }

  *all(): Generator<SessionRecord, void, undefined> {
    for (let last: SessionRecord | undefined; ; ) {
      const page = this.list(PAGE, last);
      yield* page;
      last = page.at(-1);
      if (page.length < PAGE) return;
    }
  }

  findSession(agent: string, sessionId: string): SessionRecord | undefined {
    for (const record of this.all())
      if (record.agentId === agent && record.agentSessionId === sessionId && !this.marks.isDeleted(record.key))
        return record;
    return undefined;
  }

  get marks(): SessionMarkStore {
    return this.#open().marks;
  }

  get questions(): QuestionStore {
    return this.#open().questions;
  }

  get windowId(): string {
    return this.#windowId;
  }

  /** Fires after another window has written, and soon after the first read. */
  readonly onDidChangeElsewhere: Event<void> = this.#didChangeElsewhere.event;

  elsewhere(): readonly MarkedSession[] {
    return this.marks.elsewhere(this.#windowId);
  }

  find(key: string): SessionRecord | undefined {
    return this.#open().session(key);
  }

  /**
   * Yields the results so far, best first.
   * @throws the reason of `signal`; ParleyError `journal-unreadable`, `journal-closed`
   */
  async *search(text: string, limit: number, signal: AbortSignal): AsyncGenerator<readonly SearchResult[], void> {
    const slices = new Slices();
    const steps = this.#open().search(text, limit);
    for (;;) {
      signal.throwIfAborted();
      const { value, done } = steps.next();
      if (value) yield value.filter(({ session }) => !this.marks.isDeleted(session.key));
      if (done) return;
      await slices.pause();
    }
  }

  eventAt(key: string, seq: number): TimedEvent | undefined {
    return this.#open().events(key, { from: seq, to: seq, limit: 1 }).events[0];
  }

  eventsOf(key: string): StoredEvents['read'] {
    const journal = this.#open();
    return (from, to, types) => journal.events(key, { from, to, types }).events;
  }

  /**
   * Reads the end of a session in small steps. @returns undefined if it is unknown or deleted
   * @throws ParleyError `journal-unreadable`, `journal-closed`
   */
  async endOf(
    key: string,
    rows: number,
  ): Promise<{ readonly session: SessionRecord; readonly model: SessionModel; readonly isWhole: boolean } | undefined> {
    const session = this.find(key);
    if (!session || this.marks.isDeleted(key)) return undefined;
    const { lastSeq } = session;
    const from = Math.max(1, lastSeq - rows + 1);
    const model = await new TranscriptReading(this.#open(), key, from).finishSlowly(lastSeq);
    return { session, model, isWhole: from === 1 };
  }

  rename(key: string, title: string): void {
    const journal = this.#open();
    journal.updateSession(key, { title });
    journal.append(key, [{ at: Date.now(), event: { type: 'info', title, byUser: true } }]);
  }

  /** @throws ParleyError `session-held` */
  deleteSoon(key: string): void {
    if (this.isHeld(key)) throw sessionHeld();
    this.marks.mark(key, { deleted: Date.now() });
    this.#pruneLater(this.#open(), RESTORABLE_MS);
    this.newSessions.forget(key);
    if (this.last === key) this.last = undefined;
  }

  restoreDeleted(key: string): boolean {
    if (!this.find(key)) return false;
    this.marks.mark(key, { deleted: null });
    return true;
  }

  #deleteMarked(before: number): void {
    for (const key of this.marks.deletedBefore(before)) if (!this.isHeld(key)) this.delete(key);
  }

  delete(key: string): void {
    this.#open().deleteSession(key);
    if (this.last === key) this.last = undefined;
    this.#didDelete.fire([key]);
  }

  get problem(): string | undefined {
    const state = this.#journal?.state;
    return state?.kind === 'memory' ? state.message : undefined;
  }

  /** Returns the id of the next queued message; undefined if there is none or it must wait. */
  nextQueued(key: string): string | undefined {
    const record = this.find(key);
    if (!record || record.queuePaused !== undefined || this.isHeld(key)) return undefined;
    const first = this.#open()
      .queue.items(key)
      .find(({ state }) => state !== 'failed');
    return first?.state === 'queued' && !first.held ? first.id : undefined;
  }

  release(key: string): void {
    this.#journal?.release(key, this.#windowId);
  }

  override dispose(): void {
    this.#abort.abort();
    clearTimeout(this.#pruneTimer);
    clearTimeout(this.#warnTimer);
    this.#readAhead = undefined;
    super.dispose();
    this.#journal?.dispose();
    this.#journal = undefined;
  }

  #open(): Journal {
    if (this.#journal) return this.#journal;
    const journal = Journal.open({ folder: this.#context.globalStorageUri.fsPath, log: this.#log, now: Date.now });
    this.#journal = journal;
    this.#reportState(journal);
    this.own(journal.onDidChangeState(() => this.#reportState(journal)));
    this.own(journal.onDidLoseSession((key) => this.#didLoseSession.fire(key)));
    this.own(journal.onDidChangeElsewhere(() => this.#didChangeElsewhere.fire()));
    this.#pruneLater(journal, PRUNE_AFTER_MS);
    return journal;
  }

  #pruneLater(journal: Journal, ms: number): void {
    this.#pruneTimer ??= setTimeout(() => {
      this.#pruneTimer = undefined;
      void this.#prune(journal);
    }, ms).unref();
  }

  #reportState(journal: Journal): void {
    const { state } = journal;
    clearTimeout(this.#warnTimer);
    if (state.kind === 'memory' && state.problem === 'locked' && !this.#hasWarned) {
      this.#warnTimer = setTimeout(() => this.#warn(journal), LOCKED_WARN_MS);
      this.#warnTimer.unref();
    } else this.#warn(journal);
  }

  #warn(journal: Journal): void {
    const { state } = journal;
    const hadWarned = this.#hasWarned;
    this.#hasWarned = state.kind === 'memory';
    if (state.kind === 'durable') {
      // A short wait for another window's write is not reported.
      if (state.notice !== undefined && (hadWarned || !state.isBack)) void showInfo(`Parley: ${state.notice}`);
      return;
    }
    const again = l10n.t('Try Again');
    const text = `Parley: ${state.message} ${state.hint}`;
    void showWarning(text, again).then((choice) => {
      if (choice === again) journal.retry();
    });
  }

  async #prune(journal: Journal): Promise<void> {
    try {
      this.#deleteMarked(Date.now() - RESTORABLE_MS);
      const { keys } = await journal.prune(historyLimits(), this.#abort.signal);
      if (keys.length > 0) {
        this.#log.info(`${keys.length} old sessions were forgotten`);
        this.#didDelete.fire(keys);
      }
      if (journal.state.kind === 'durable') this.#didPrune.fire();
      if (journal.marks.deletedBefore(Date.now()).length > 0) this.#pruneLater(journal, RESTORABLE_MS);
    } catch (error) {
      this.#log.debug(`old sessions: ${messageOf(error)}`);
    }
  }
}

const NEW_SESSIONS = 'parley.newSessions';
const MAX_NEW_SESSIONS = 20;

const sessions = z.array(
  z.object({
    key: z.string(),
    agentId: z.string(),
    cwd: z.string(),
    roots: z.array(z.string()),
  }),
);

type NewSession = z.infer<typeof sessions>[number];

class NewSessions {
  readonly #memento: Pick<Memento, 'get' | 'update'>;

  constructor(memento: Pick<Memento, 'get' | 'update'>) {
    this.#memento = memento;
  }

  note({ key, agentId, cwd, roots }: Omit<NewSession, 'roots'> & { readonly roots: readonly string[] }): void {
    const others = this.#read().filter((one) => one.key !== key);
    this.#write([...others, { key, agentId, cwd, roots: [...roots] }].slice(-MAX_NEW_SESSIONS));
  }

  find(key: string): NewSession | undefined {
    return this.#read().find((one) => one.key === key);
  }

  forget(key: string): void {
    const all = this.#read();
    const others = all.filter((one) => one.key !== key);
    if (others.length < all.length) this.#write(others);
  }

  #read(): readonly NewSession[] {
    return sessions.safeParse(this.#memento.get(NEW_SESSIONS, [])).data ?? [];
  }

  #write(all: readonly NewSession[]): void {
    void this.#memento.update(NEW_SESSIONS, all);
  }
}
