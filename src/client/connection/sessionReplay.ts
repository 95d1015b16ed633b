// Handles what an agent repeats of a session that was reopened, from the request until the first
// prompt. Agents repeat the past before their answer, after it, after session/ready, in several
// bursts, or without being asked. If a transcript exists, the replay goes into a
// separate model and only missing entries are added; otherwise it becomes the transcript. States
// and ends of turns in it belong to old turns: only the last state describes the session now. An
// agent may say that the past is complete (v2 `replay_complete`); otherwise a silence does.
import { isIdle, isReplayComplete, isUserMessage } from '../../acp/proposals/promptLifecycle';
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
import { hear } from '../prompts/heardEvent';
import { reduce } from '../turns/engine';
import { initialTurns, type TurnEffect, type TurnFact } from '../turns/turnState';
import { withoutHandoff } from './contextHandoff';

/**
 * Silence after the answer before the repeated part is taken over, and the longest wait, in
 * milliseconds.
 */
const SILENCE_MS = 150;
const LONGEST_MS = 3000;

/** Describe the session now, and are applied immediately. */
const OF_THE_SESSION: ReadonlySet<SessionEvent['type']> = new Set([
  'commands',
  'modes',
  'mode',
  'config',
  'info',
  'usage',
  'rate_limits',
  'prompt_suggestion',
  'subagent',
  'session_message',
]);

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

/** How repeated updates are read. */
export interface PastUpdates {
  /** Takes states, which begin and end no turns here. */
  readonly onState: (report: StateReport) => void;
  readonly onTurnComplete: (barrier: TurnComplete) => void;
  /** Returns an event without what the agent adds only to repetitions. */
  readonly asSaid: AsSaid;
}

export interface ReplayedSession {
  readonly transcript: Readonly<SessionState>;
  readonly apply: (event: SessionEvent) => void;
  /** @param past they are repeated */
  readonly updates: (updates: readonly unknown[], past?: PastUpdates) => void;
  readonly reportState: (report: StateReport) => void;
  readonly feed: (fact: TurnFact) => void;
  /** Called before what is missing is added. */
  repeated(entries: readonly Entry[]): void;
}

export interface SessionReplayOptions {
  readonly session: ReplayedSession;
  readonly dialect: Dialect;
  readonly log: Log;
  /** The transcript is here and compared; else it is built from the repetition. */
  readonly compares: boolean;
  /**
   * The agent was asked to repeat the past. Else only a user message shows that it does: what comes
   * before one is new.
   */
  readonly expected: boolean;
  /** A turn waits for its end. */
  readonly rejoins?: boolean;
  readonly asSaid: AsSaid;
  /** Absent: timers. */
  readonly schedule?: Schedule;
}

export class SessionReplay {
  readonly #options: SessionReplayOptions;
  readonly #schedule: Schedule;
  #model = new SessionModel();
  #cleared = false;
  /** The agent has answered, and what it had repeated was taken over. */
  #settled = false;
  #isOver = false;
  #hasRepeated = false;
  readonly #past: PastUpdates;
  /** Updates before the answer while nothing shows that they are repeated. */
  #undecided: unknown[] | undefined;
  #state: StateReport | undefined;
  #complete: TurnComplete | undefined;
  readonly #turns: ReplayedTurns;
  /** What came after the agent said that the past is complete; undefined until then. */
  #live: unknown[] | undefined;
  #timer: Disposable | undefined;
  #heard: (() => void) | undefined;
  #completed: (() => void) | undefined;

  constructor(options: SessionReplayOptions) {
    this.#options = options;
    this.#schedule = options.schedule ?? later;
    this.#turns = new ReplayedTurns((event) => {
      if (options.compares) this.#model.apply(event, 0);
      else options.session.apply(event);
    });
    const asSaid = (event: SessionEvent) => this.#read(event).map(this.#asPast);
    this.#past = { onState: this.#hold, onTurnComplete: this.#ended, asSaid };
    if (!options.expected) this.#undecided = [];
    this.#model.apply({ type: 'cleared', replay: true }, 0);
  }

  get isExpected(): boolean {
    return this.#options.expected;
  }

  /** The sink for the session's updates. */
  readonly take = (updates: readonly unknown[]): void => {
    const { compares, session, dialect } = this.#options;
    if (this.#isOver) {
      session.updates(updates);
      return;
    }
    if (this.#live) {
      this.#live.push(...updates);
      return;
    }
    const complete = this.isExpected ? updates.findIndex(isReplayComplete) : -1;
    if (complete >= 0) {
      this.take(updates.slice(0, complete));
      this.#completePast(updates.slice(complete + 1));
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
   * Returns whether the last repeated turn continues: output after a silence, without a user
   * message.
   */
  #continues(updates: readonly unknown[]): boolean {
    if (!this.#settled || this.#timer || !this.#turns.isOpen) return false;
    const from = updates.findIndex(isUserMessage);
    return (from < 0 ? updates : updates.slice(0, from)).some((update) => OUTPUT.has(at(update, 'sessionUpdate')));
  }

  /** All later updates are live; they wait until the session is open. */
  #completePast(later: readonly unknown[]): void {
    if (this.#isOver) {
      this.#options.session.updates(later);
      return;
    }
    this.#live = [...later];
    this.#hasRepeated = true;
    this.begin();
    if (this.#options.compares) this.#addMissing(false);
    this.#completed?.();
    if (this.#settled) this.#goLive();
  }

  #goLive(): void {
    const live = this.#live ?? [];
    this.#report();
    this.dispose();
    if (live.length > 0) this.#options.session.updates(live);
  }

  /** Adds what is missing before something else is shown. */
  readonly takeOver = (): void => {
    if (this.#options.compares && !this.#isOver && !this.#undecided) this.#addMissing(true);
  };

  /** The agent is to repeat the past, and hasn't yet. */
  get isAwaited(): boolean {
    return this.#options.expected && !this.#hasRepeated;
  }

  /** Clears a transcript that is rebuilt; not before, since the agent may refuse. */
  begin(): void {
    if (this.#cleared || this.#options.compares) return;
    this.#cleared = true;
    this.#options.session.apply({ type: 'cleared', replay: true });
  }

  /**
   * Resolves after a silence, or when aborted: some agents answer before or while they repeat.
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

  whenQuiet(run: () => void): Disposable {
    const quietMs = this.#live ? 0 : SILENCE_MS;
    const grace = new Grace({ quietMs, longestMs: LONGEST_MS, schedule: this.#schedule, onOver: run });
    this.#heard = () => grace.extend();
    this.#completed = run;
    return toDisposable(() => {
      this.#heard = undefined;
      this.#completed = undefined;
      grace.dispose();
    });
  }

  /** The session is open: takes over what was repeated. */
  answered(): void {
    this.#settled = true;
    if (this.#live) {
      this.#goLive();
      return;
    }
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

  /** Updates are repeated only from a user message on. */
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

  /** A prompt is about to leave, or the agent has ended: later updates are live. */
  end(): void {
    if (this.#isOver) return;
    if (this.#live) this.#goLive();
    else if (this.#settled && !this.#undecided) this.#settle(false);
    this.dispose();
  }

  /** The session was not opened. */
  dispose(): void {
    this.#timer?.dispose();
    this.#isOver = true;
    this.#model = new SessionModel();
  }

  readonly #hold = (report: StateReport): void => {
    this.#state = report;
    this.#turns.state(report);
  };

  readonly #ended = (barrier: TurnComplete): void => {
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
      onTurnComplete: this.#ended,
      onState: this.#hold,
      log,
    };
  }

  #read(event: SessionEvent): readonly SessionEvent[] {
    if (!OF_THE_SESSION.has(event.type)) this.#hasRepeated = true;
    // It ended the turn before.
    if ('role' in event && event.role === 'user') this.#complete = undefined;
    const events = this.#options.asSaid(event);
    for (const said of events) this.#turns.hear(said);
    return events;
  }

  /**
   * The state at that time: the session may have begun with another one since. After an expected
   * repetition the agent reports the current state.
   */
  readonly #asPast = (event: SessionEvent): SessionEvent => {
    if (this.#settled && this.#options.expected) return event;
    return event.type === 'mode' || event.type === 'config' ? { ...event, isPast: true } : event;
  };

  /** @param goesOn more may be repeated */
  #settle(goesOn: boolean): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    if (this.#options.compares) this.#addMissing(goesOn);
    this.#report();
  }

  #report(): void {
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

function asSaid(entry: Entry): Entry {
  if (entry.kind !== 'user') return entry;
  const content = entry.content.map((block) =>
    block.type === 'text' ? { ...block, text: withoutHandoff(block.text) } : block,
  );
  return { ...entry, content };
}

/** The turns of a repeated past. Time stands still in it, so nothing is decided by waiting. */
class ReplayedTurns {
  readonly #apply: (event: SessionEvent) => void;
  #state = initialTurns();
  /** The agent has begun a turn by itself, without output so far. */
  #isOwn = false;
  #hasEnds = false;

  constructor(apply: (event: SessionEvent) => void) {
    this.#apply = apply;
  }

  /** The agent reports ends of turns, and not that of the last one. */
  get isOpen(): boolean {
    const { turn } = this.#state;
    return this.#hasEnds && turn !== undefined && turn.ended === undefined;
  }

  hear(event: SessionEvent): void {
    if ((event.type === 'message' || event.type === 'message_chunk') && event.role === 'user') {
      this.#isOwn = false;
      this.#feed({ type: 'past' });
    } else hear(event, this.#feed);
    if (!this.#isOwn || !this.#state.turn?.hasOutput) return;
    this.#isOwn = false;
    this.#apply({ type: 'replayed_turn' });
  }

  state(report: StateReport): void {
    this.#feed({ type: 'state', report });
  }

  complete(barrier: TurnComplete): void {
    this.#feed({ type: 'complete', barrier });
  }

  readonly #feed = (fact: TurnFact): void => {
    const [state, effects] = reduce(this.#state, { ...fact, at: 0 });
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
  };

  #carryOut(effect: TurnEffect): void {
    if (effect.type !== 'event') return;
    const { event } = effect;
    switch (event.type) {
      case 'turn_started':
        this.#isOwn = event.origin === 'agent';
        return;
      case 'turn_ended':
      case 'turn_reason': {
        const { stopReason, tokens, tokenParts } = event;
        const said = { tokens, tokenParts };
        const barrier = event.type === 'turn_ended' ? event.barrier : undefined;
        this.#hasEnds = true;
        this.#apply({ type: 'replayed_end', stopReason, barrier, ...said });
        return;
      }
      case 'error':
        this.#apply(event);
    }
  }
}
