// Handles what an agent repeats of a session that was reopened, from the request until the first
// prompt. Agents repeat the past before their answer, after it, after session/ready, in several
// bursts, or without being asked. Where a transcript exists, the repetition goes into a model of
// its own and only what is missing is added; otherwise it becomes the transcript. States and ends of
// turns in it belong to old turns: only the last state describes the session now.
import { isIdle, isUserMessage } from '../../acp/proposals/promptLifecycle';
import type { Dialect, StateReport, TurnComplete, UpdateTargets } from '../../acp/protocol/dialect';
import type { AsSaid } from '../../acp/quirks/repeatedPast';
import { type Disposable, toDisposable } from '../../base/disposable';
import type { Log } from '../../base/log';
import { at } from '../../base/untrusted';
import type { SessionEvent } from '../../session/events/event';
import { SessionModel } from '../../session/model/model';
import { sameIds } from '../../session/model/renewedIds';
import type { Entry, SessionState } from '../../session/model/state';
import { reconcile } from '../../session/reconcile/reconcile';
import { Grace, later, type Schedule } from '../ports/grace';
import type { TurnFact } from '../turns/turnState';
import { withoutHandoff } from './contextHandoff';
import { ReplayedTurns } from './replayedTurns';

/**
 * How long an agent that has answered may stay silent before what it repeated is taken over, and
 * the most that is waited, in milliseconds.
 */
const SILENCE_MS = 150;
const LONGEST_MS = 3000;

/** Says how the session is now, and is taken over at once. */
const OF_THE_SESSION: ReadonlySet<SessionEvent['type']> = new Set([
  'commands',
  'modes',
  'mode',
  'config',
  'info',
  'usage',
  'subagent',
  'session_message',
]);

/** Updates that show progress in a turn. */
const OUTPUT: ReadonlySet<unknown> = new Set([
  'agent_message_chunk',
  'agent_message',
  'agent_thought_chunk',
  'agent_thought',
  'tool_call',
  'tool_call_update',
  'tool_call_content_chunk',
  'plan',
  'plan_update',
]);

/** How updates of the past are read. */
export interface PastUpdates {
  /** Takes the states in them, which begin and end no turns here. */
  readonly onState: (report: StateReport) => void;
  /** Takes the ends of turns in them. */
  readonly onTurnComplete: (barrier: TurnComplete) => void;
  /** Returns what an event says, without what the agent puts in only where it repeats something. */
  readonly asSaid: AsSaid;
}

/** The session that is opened again. */
export interface ReplayedSession {
  readonly transcript: Readonly<SessionState>;
  readonly apply: (event: SessionEvent) => void;
  /** Takes updates for the transcript. @param past they are repeated */
  readonly updates: (updates: readonly unknown[], past?: PastUpdates) => void;
  readonly reportState: (report: StateReport) => void;
  /** Takes facts for the session's turn engine, if a turn waits to learn how it ended. */
  readonly feed: (fact: TurnFact) => void;
  /** Called before what is missing is added. */
  repeated(entries: readonly Entry[]): void;
}

export interface SessionReplayOptions {
  readonly session: ReplayedSession;
  readonly dialect: Dialect;
  readonly log: Log;
  /** The transcript exists, and is compared with what is repeated; else it is made from that. */
  readonly compares: boolean;
  /**
   * The agent is to repeat the past. Else only a message of the user shows that it does: what comes
   * before one is new.
   */
  readonly expected: boolean;
  /** A turn waits here for its end, and may be the last one that is repeated. */
  readonly rejoins?: boolean;
  readonly asSaid: AsSaid;
  /** Absent: timers. */
  readonly schedule?: Schedule;
}

export class SessionReplay {
  readonly #options: SessionReplayOptions;
  readonly #schedule: Schedule;
  #model = new SessionModel();
  /** The transcript was emptied for the replay. */
  #cleared = false;
  /** The agent has answered, and what it repeated until then was taken over. */
  #settled = false;
  #isOver = false;
  /** Something that was said or done was repeated. */
  #hasRepeated = false;
  readonly #past: PastUpdates;
  /** What came before the answer while nothing shows that the past is repeated. */
  #undecided: unknown[] | undefined;
  /** The last state, until it is told. */
  #state: StateReport | undefined;
  /** What ended the last turn, until it is told. */
  #complete: TurnComplete | undefined;
  readonly #turns: ReplayedTurns;
  #timer: Disposable | undefined;
  #heard: (() => void) | undefined;

  constructor(options: SessionReplayOptions) {
    this.#options = options;
    this.#schedule = options.schedule ?? later;
    this.#turns = new ReplayedTurns((event) => {
      if (options.compares) this.#model.apply(event, 0);
      else options.session.apply(event);
    });
    const asSaid = (event: SessionEvent) => this.#read(event).map(this.#asPast);
    this.#past = { onState: this.#hold, onTurnComplete: this.#completed, asSaid };
    if (!options.expected) this.#undecided = [];
    this.#model.apply({ type: 'cleared', replay: true }, 0);
  }

  /** The agent was asked to repeat the past. */
  get isExpected(): boolean {
    return this.#options.expected;
  }

  /** The sink for the session's updates, for as long as the session lives. */
  readonly take = (updates: readonly unknown[]): void => {
    const { compares, session, dialect } = this.#options;
    if (this.#isOver) {
      session.updates(updates);
      return;
    }
    if (this.#continues(updates)) {
      this.end();
      session.feed({ type: 'continues' });
      session.updates(updates);
      return;
    }
    if (this.#undecided) this.#decide(updates);
    else if (compares) dialect.readUpdates(updates, this.#targets());
    else {
      this.begin();
      session.updates(updates, this.#past);
    }
    this.#heard?.();
    if (this.#settled && !this.#undecided) this.#timer ??= this.#schedule(() => this.#settle(true), SILENCE_MS);
  };

  /**
   * Returns whether the turn continues with which the past has ended: after a silence, something
   * follows without a message of the user.
   */
  #continues(updates: readonly unknown[]): boolean {
    if (!this.#settled || this.#timer || !this.#turns.isOpen) return false;
    const from = updates.findIndex(isUserMessage);
    return (from < 0 ? updates : updates.slice(0, from)).some(isOutput);
  }

  /**
   * Adds what is missing so far: something is about to be shown that is no update, and comes after
   * it.
   */
  readonly takeOver = (): void => {
    if (this.#options.compares && !this.#isOver && !this.#undecided) this.#addMissing(true);
  };

  /** Whether the agent is to repeat the past, and has repeated nothing so far. */
  get isAwaited(): boolean {
    return this.#options.expected && !this.#hasRepeated;
  }

  /**
   * The repetition has begun, or the agent has answered: a transcript that is rebuilt is cleared
   * now and not earlier, since an agent may refuse.
   */
  begin(): void {
    if (this.#cleared || this.#options.compares) return;
    this.#cleared = true;
    this.#options.session.apply({ type: 'cleared', replay: true });
  }

  /**
   * Resolves when nothing came for a moment: some agents answer before they repeat, or in the midst
   * of it. Aborted: at once.
   */
  quiet(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        waits.dispose();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const waits = this.whenQuiet(done);
      signal.addEventListener('abort', done, { once: true });
      if (signal.aborted) done();
    });
  }

  /** As {@link quiet}, with a function that is called. */
  whenQuiet(run: () => void): Disposable {
    const grace = new Grace({ quietMs: SILENCE_MS, longestMs: LONGEST_MS, schedule: this.#schedule, onOver: run });
    this.#heard = () => grace.extend();
    return toDisposable(() => {
      this.#heard = undefined;
      grace.dispose();
    });
  }

  /** The session is open: takes over what was repeated so far. */
  answered(): void {
    this.#settled = true;
    if (!this.#undecided) {
      this.begin();
      this.#settle(true);
      return;
    }
    const { session } = this.#options;
    session.apply({ type: 'ids_renewed' });
    const updates = this.#undecided.splice(0);
    if (updates.length > 0) session.updates(updates);
  }

  /**
   * Takes updates that are a repetition only from a message of the user on: no prompt has left.
   */
  #decide(updates: readonly unknown[]): void {
    const waiting = this.#undecided ?? [];
    const from = updates.findIndex(isUserMessage);
    const before = from < 0 ? updates : updates.slice(0, from);
    if (!this.#settled) waiting.push(...before);
    else if (before.length > 0) this.#options.session.updates(before);
    if (from < 0) return;
    this.#undecided = undefined;
    this.take([...waiting, ...updates.slice(from)]);
  }

  /** A prompt is about to leave, or the agent is gone: what comes from now on is new. */
  end(): void {
    if (this.#isOver) return;
    if (this.#settled && !this.#undecided) this.#settle(false);
    this.dispose();
  }

  /** The session was not opened: what was repeated of it is forgotten. */
  dispose(): void {
    this.#timer?.dispose();
    this.#isOver = true;
    this.#model = new SessionModel();
  }

  readonly #hold = (report: StateReport): void => {
    this.#state = report;
    this.#turns.state(report);
  };

  readonly #completed = (barrier: TurnComplete): void => {
    this.#complete = barrier;
    this.#turns.complete(barrier);
  };

  #targets(): UpdateTargets {
    const { session, log } = this.#options;
    return {
      emit: (event) => {
        if (OF_THE_SESSION.has(event.type)) session.apply(this.#asPast(event));
        else for (const said of this.#read(event)) this.#model.apply(said, 0);
      },
      onTurnComplete: this.#completed,
      onState: this.#hold,
      log,
    };
  }

  #read(event: SessionEvent): readonly SessionEvent[] {
    if (!OF_THE_SESSION.has(event.type)) this.#hasRepeated = true;
    if (isOfUser(event)) this.#complete = undefined; // it ended the turn before
    const events = this.#options.asSaid(event);
    for (const said of events) this.#turns.hear(said);
    return events;
  }

  /**
   * What was set when the agent said it: the session may have begun with something else now. Behind a
   * repetition that was asked for, the agent says what is.
   */
  readonly #asPast = (event: SessionEvent): SessionEvent => {
    if (this.#settled && this.#options.expected) return event;
    return event.type === 'mode' || event.type === 'config' ? { ...event, isPast: true } : event;
  };

  /** @param goesOn more of the repetition may come */
  #settle(goesOn: boolean): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    if (this.#options.compares) this.#addMissing(goesOn);
    const [state, complete] = [this.#state, this.#complete];
    this.#state = undefined;
    this.#complete = undefined;
    if (complete && this.#options.rejoins) this.#options.session.feed({ type: 'complete', barrier: complete });
    if (!state) return;
    // Updates of a working agent are new, so the replay is over.
    if (!isIdle(state)) this.dispose();
    this.#options.session.reportState(state);
  }

  #addMissing(goesOn: boolean): void {
    const { session, log } = this.#options;
    const { state } = this.#model;
    const repeated = { ...state, entries: state.entries.map(asSaid) };
    session.repeated(repeated.entries);
    const missing = reconcile(session.transcript, repeated, goesOn);
    session.apply({ type: 'ids_renewed', known: sameIds(session.transcript.entries, repeated.entries) });
    for (const event of missing) session.apply(event);
    if (missing.length > 0) log.info(`the agent repeated the session; ${missing.length} things were new`);
  }
}

function isOutput(update: unknown): boolean {
  return OUTPUT.has(at(update, 'sessionUpdate'));
}

function isOfUser(event: SessionEvent): boolean {
  return (event.type === 'message' || event.type === 'message_chunk') && event.role === 'user';
}

/** A message as the user wrote it, without what went along for a new session. */
function asSaid(entry: Entry): Entry {
  if (entry.kind !== 'user') return entry;
  const content = entry.content.map((block) =>
    block.type === 'text' ? { ...block, text: withoutHandoff(block.text) } : block,
  );
  return { ...entry, content };
}
