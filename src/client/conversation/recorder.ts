// Applies events to the model and persists them, in the same order. What an agent sends in one
// batch is stored in one transaction.
import { Emitter, type Event } from '../../base/event';
import type { SessionEvent, TimedEvent } from '../../session/events/event';
import type { SessionModel } from '../../session/model/model';
import type { ConversationPersistence, ReadProgress } from './persistence';

/** In a turn, so many entries lie between two marks. */
const MARK_EVERY = 16;

export class Recorder {
  readonly #model: SessionModel;
  readonly #persistence: ConversationPersistence | undefined;
  readonly #now: () => number;
  readonly #progress: { read(): ReadProgress | undefined } | undefined;
  readonly #onDidApply = new Emitter<SessionEvent>();
  #isOver = false;
  /** What is to happen once all of `together` is kept. */
  #afterwards: (() => void)[] = [];
  /** Events to store in one transaction; undefined: each one alone. */
  #together: TimedEvent[] | undefined;
  #syncQueue: (() => void) | undefined;
  /** Entries before the last mark. */
  #marked = 0;

  /**
   * @param now ms since 1970
   * @param progress how far the lines of the agent were read, which is kept with its events
   */
  constructor(
    model: SessionModel,
    persistence: ConversationPersistence | undefined,
    now: () => number,
    progress?: { read(): ReadProgress | undefined },
  ) {
    this.#model = model;
    this.#persistence = persistence;
    this.#now = now;
    this.#progress = progress;
  }

  /** Fires for each event after it was applied. */
  get onDidApply(): Event<SessionEvent> {
    return this.#onDidApply.event;
  }

  /** Applies one event that happens now. */
  readonly apply = (event: SessionEvent): void => {
    this.applyAt(event, this.#now());
  };

  /**
   * Applies one event. A title of the agent does not replace the one that the user has given, here
   * or in the lists of sessions.
   * @param at ms since 1970
   */
  applyAt(event: SessionEvent, at: number): void {
    const { state } = this.#model;
    if (this.#isOver || (event.type === 'info' && !event.byUser && state.isNamed)) return;
    const entries = state.entries.length;
    const turns = state.turns.length;
    const turn = state.turn?.id;
    this.#model.apply(event, at);
    if (this.#persistence) {
      const begins = state.entries.length > entries || undefined;
      const mark = this.#isMark(entries, turn, event) ? { entries, turns, turn } : undefined;
      const timed: TimedEvent = { at, event, begins, mark };
      if (this.#together) this.#together.push(timed);
      else this.#persistence.events([timed], this.#progress?.read());
      if (event.type === 'info' && event.title) this.#persistence.describe({ title: event.title });
    }
    this.#onDidApply.fire(event);
  }

  /**
   * Returns whether the end of the transcript can be read from an event on: a turn begins with it,
   * or an entry where none of the like was for long.
   */
  #isMark(entries: number, turn: string | undefined, event: SessionEvent): boolean {
    if (event.type === 'cleared') this.#marked = 0;
    const { state } = this.#model;
    const isTurn = event.type === 'turn_started' && turn === undefined;
    const isEntry = state.entries.length === entries + 1 && turn === state.turn?.id && !state.replaying;
    if (!isTurn && !(isEntry && entries - this.#marked >= MARK_EVERY)) return false;
    this.#marked = entries;
    return true;
  }

  /** The queue has changed. @param sync keeps the difference */
  queueChanged(sync: () => void): void {
    if (this.#isOver) return;
    if (this.#together) this.#syncQueue = sync;
    else sync();
  }

  /** Keeps all that is applied during `run`, and the queue as it is then, at its end. */
  readonly together = <T>(run: () => T): T => {
    if (!this.#persistence || this.#together) return run();
    this.#together = [];
    try {
      return run();
    } finally {
      this.commit();
      this.#together = undefined;
      for (const next of this.#afterwards.splice(0)) next();
    }
  };

  /**
   * Runs something once all of {@link together} is kept: what leaves in the middle of it would have
   * to be kept with a part of what the agent sent in one go.
   */
  readonly afterwards = (run: () => void): void => {
    if (this.#together) this.#afterwards.push(run);
    else run();
  };

  /** The window goes, and the session continues elsewhere: nothing more is applied or kept. */
  end(): void {
    this.#isOver = true;
  }

  /**
   * Keeps now what was to be kept at the end: before something happens that cannot be taken back.
   */
  readonly commit = (): void => {
    const events = this.#together;
    const sync = this.#syncQueue;
    if (!events || (events.length === 0 && !sync)) return;
    this.#together = [];
    this.#syncQueue = undefined;
    this.#persistence?.together(() => {
      if (events.length > 0) this.#persistence?.events(events, this.#progress?.read());
      sync?.();
    });
  };
}
