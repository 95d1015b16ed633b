// Applies events to the model and stores them, in the same order. Updates that arrive together are
// stored in one transaction.
import { Emitter } from '../../base/event';
import type { SessionEvent, TimedEvent } from '../../session/events/event';
import type { SessionModel } from '../../session/model/model';
import type { ConversationPersistence, ReadProgress } from './persistence';

const MARK_EVERY = 16;

export class Recorder {
  readonly #model: SessionModel;
  readonly #persistence: ConversationPersistence | undefined;
  readonly #now: () => number;
  readonly #progress: { read(): ReadProgress | undefined } | undefined;
  readonly #onDidApply = new Emitter<SessionEvent>();
  readonly onDidApply = this.#onDidApply.event;
  #isOver = false;
  #afterwards: (() => void)[] = [];
  /** Events of the open transaction; undefined: none is open. */
  #pending: TimedEvent[] | undefined;
  #syncQueue: (() => void) | undefined;
  #marked = 0;

  /**
   * @param now ms since 1970
   * @param progress stored with the events
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

  readonly apply = (event: SessionEvent): void => {
    this.applyAt(event, this.#now());
  };

  /**
   * Applies an event. The agent's title doesn't replace the user's.
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
      const mark = this.#startsMark(entries, turn, event) ? { entries, turns, turn } : undefined;
      const timed: TimedEvent = { at, event, begins, mark };
      if (this.#pending) this.#pending.push(timed);
      else this.#persistence.events([timed], this.#progress?.read());
      if (event.type === 'info' && event.title) this.#persistence.describe({ title: event.title });
    }
    this.#onDidApply.fire(event);
  }

  /**
   * Returns whether reading can start at this event: it begins a turn or, after many others, an
   * entry.
   */
  #startsMark(entries: number, turn: string | undefined, event: SessionEvent): boolean {
    if (event.type === 'cleared') this.#marked = 0;
    const { state } = this.#model;
    const isTurn = event.type === 'turn_started' && turn === undefined;
    const isEntry = state.entries.length === entries + 1 && turn === state.turn?.id && !state.replaying;
    if (!isTurn && !(isEntry && entries - this.#marked >= MARK_EVERY)) return false;
    this.#marked = entries;
    return true;
  }

  queueChanged(sync: () => void): void {
    if (this.#isOver) return;
    if (this.#pending) this.#syncQueue = sync;
    else sync();
  }

  /** Stores the events and queue changes of `run` in one transaction. */
  readonly together = <T>(run: () => T): T => {
    if (!this.#persistence || this.#pending) return run();
    this.#pending = [];
    try {
      return run();
    } finally {
      if (this.#pending.length > 0 || this.#syncQueue) this.commit();
      this.#pending = undefined;
      for (const next of this.#afterwards.splice(0)) next();
    }
  };

  /**
   * Runs something once {@link together} has stored its events, so that what it sends doesn't split
   * the transaction.
   */
  readonly afterwards = (run: () => void): void => {
    if (this.#pending) this.#afterwards.push(run);
    else run();
  };

  /** Stops applying and storing: the session continues in another window. */
  end(): void {
    this.#isOver = true;
  }

  /**
   * Stores the open transaction now, before something irreversible; at least the progress, which
   * includes the prompts.
   */
  readonly commit = (): void => {
    const events = this.#pending;
    const sync = this.#syncQueue;
    if (!events) return;
    this.#pending = [];
    this.#syncQueue = undefined;
    this.#persistence?.together(() => {
      this.#persistence?.events(events, this.#progress?.read());
      sync?.();
    });
  };
}
