// Handles the replay of a reopened session, from the request until the first prompt. Agents replay
// before or after their answer, after session/ready, in several bursts, or unasked. If a transcript
// exists, the replay goes into a separate model and only missing entries are added; otherwise it
// becomes the transcript. States and ends of turns in it belong to old turns; only the last state
// is current. The replay is over when the agent says so (v2 `replay_complete`), or after a silence.
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
import { feedEvent } from '../prompts/heardEvent';
import { reduce } from '../turns/engine';
import { initialTurns, type TurnEffect, type TurnFact } from '../turns/turnState';
import { withoutHandoff } from './contextHandoff';

/** Silence after the answer before the replay is taken over, and the longest wait. */
const SILENCE_MS = 150;
const LONGEST_MS = 3000;

/** Apply to the session as it is now, so immediately. */
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

export interface PastUpdates {
  readonly onState: (report: StateReport) => void;
  readonly onTurnComplete: (barrier: TurnComplete) => void;
  /** Returns an event without what the agent adds only to replays. */
  readonly asSaid: AsSaid;
}

export interface ReplayedSession {
  readonly transcript: Readonly<SessionState>;
  readonly apply: (event: SessionEvent) => void;
  /** @param past set if they are replayed */
  readonly updates: (updates: readonly unknown[], past?: PastUpdates) => void;
  readonly reportState: (report: StateReport) => void;
  readonly feed: (fact: TurnFact) => void;
  repeated(entries: readonly Entry[]): void;
}

export interface SessionReplayOptions {
  readonly session: ReplayedSession;
  readonly dialect: Dialect;
  readonly log: Log;
  /** Whether to compare with an existing transcript; else the replay becomes the transcript. */
  readonly compares: boolean;
  /**
   * The agent was asked for a replay. Otherwise only a user message shows that one began: anything
   * before it is new.
   */
  readonly expected: boolean;
  readonly rejoins?: boolean;
  readonly asSaid: AsSaid;
  readonly schedule?: Schedule;
}

export class SessionReplay {
  readonly #options: SessionReplayOptions;
  readonly #schedule: Schedule;
  #model = new SessionModel();
  #cleared = false;
  /** The agent has answered, and its replay so far was taken over. */
  #isAnswered = false;
  #isOver = false;
  #hasReplayed = false;
  readonly #past: PastUpdates;
  /** Updates before the answer that may be new or replayed. */
  #undecided: unknown[] | undefined;
  #state: StateReport | undefined;
  #complete: TurnComplete | undefined;
  readonly #turns: ReplayedTurns;
  /** Updates after the end of the replay; undefined until then. */
  #live: unknown[] | undefined;
  #timer: Disposable | undefined;
  #onUpdates: (() => void) | undefined;
  #completed: (() => void) | undefined;

  constructor(options: SessionReplayOptions) {
    this.#options = options;
    this.#schedule = options.schedule ?? later;
    this.#turns = new ReplayedTurns((event) => {
      if (options.compares) this.#model.apply(event, 0);
      else options.session.apply(event);
    });
    const asSaid = (event: SessionEvent) => this.#read(event).map(this.#asPast);
    this.#past = { onState: this.#onState, onTurnComplete: this.#onTurnComplete, asSaid };
    if (!options.expected) this.#undecided = [];
    this.#model.apply({ type: 'cleared', replay: true }, 0);
  }

  get isExpected(): boolean {
    return this.#options.expected;
  }

  readonly receive = (updates: readonly unknown[]): void => {
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
      this.receive(updates.slice(0, complete));
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
    this.#onUpdates?.();
    if (this.#isAnswered && !this.#undecided) this.#timer ??= this.#schedule(() => this.#settle(true), SILENCE_MS);
  };

  /**
   * Returns whether the last replayed turn continues: output after a silence, without a user
   * message.
   */
  #continues(updates: readonly unknown[]): boolean {
    if (!this.#isAnswered || this.#timer || !this.#turns.isOpen) return false;
    const from = updates.findIndex(isUserMessage);
    return (from < 0 ? updates : updates.slice(0, from)).some((update) => OUTPUT.has(at(update, 'sessionUpdate')));
  }

  /** Ends the replay; later updates wait until the session is open. */
  #completePast(later: readonly unknown[]): void {
    if (this.#isOver) {
      this.#options.session.updates(later);
      return;
    }
    this.#live = [...later];
    this.#hasReplayed = true;
    this.begin();
    if (this.#options.compares) this.#addMissing(false);
    this.#completed?.();
    if (this.#isAnswered) this.#goLive();
  }

  #goLive(): void {
    const live = this.#live ?? [];
    this.#report();
    this.dispose();
    if (live.length > 0) this.#options.session.updates(live);
  }

  /** Adds missing entries before something else is shown. */
  readonly takeOver = (): void => {
    if (this.#options.compares && !this.#isOver && !this.#undecided) this.#addMissing(true);
  };

  get isAwaited(): boolean {
    return this.#options.expected && !this.#hasReplayed;
  }

  /** Clears a transcript that is rebuilt. Not earlier, since the agent may refuse. */
  begin(): void {
    if (this.#cleared || this.#options.compares) return;
    this.#cleared = true;
    this.#options.session.apply({ type: 'cleared', replay: true });
  }

  /** Resolves after a silence, or when aborted: some agents answer before or during the replay. */
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
    this.#onUpdates = () => grace.extend();
    this.#completed = run;
    return toDisposable(() => {
      this.#onUpdates = undefined;
      this.#completed = undefined;
      grace.dispose();
    });
  }

  answered(): void {
    this.#isAnswered = true;
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

  /** A replay begins only with a user message. */
  #decide(updates: readonly unknown[]): void {
    const waiting = this.#undecided ?? [];
    const from = updates.findIndex(isUserMessage);
    const early = from < 0 ? updates : updates.slice(0, from);
    if (!this.#isAnswered) waiting.push(...early);
    else if (early.length > 0) this.#options.session.updates(early);
    if (from < 0) return;
    this.#undecided = undefined;
    this.receive([...waiting, ...updates.slice(from)]);
  }

  /** A prompt is about to be sent, or the agent has ended: later updates are live. */
  end(): void {
    if (this.#isOver) return;
    if (this.#live) this.#goLive();
    else if (this.#isAnswered && !this.#undecided) this.#settle(false);
    this.dispose();
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#isOver = true;
    this.#model = new SessionModel();
  }

  readonly #onState = (report: StateReport): void => {
    this.#state = report;
    this.#turns.state(report);
  };

  readonly #onTurnComplete = (barrier: TurnComplete): void => {
    this.#complete = barrier;
    this.#turns.complete(barrier);
  };

  #targets(): UpdateTargets {
    const { session, log } = this.#options;
    return {
      emit: (event) => {
        if (OF_THE_SESSION.has(event.type)) session.apply(this.#asPast(event));
        else for (const replayed of this.#read(event)) this.#model.apply(replayed, 0);
      },
      onTurnComplete: this.#onTurnComplete,
      onState: this.#onState,
      log,
    };
  }

  #read(event: SessionEvent): readonly SessionEvent[] {
    if (!OF_THE_SESSION.has(event.type)) this.#hasReplayed = true;
    // It ended the turn before.
    if ('role' in event && event.role === 'user') this.#complete = undefined;
    const events = this.#options.asSaid(event);
    for (const replayed of events) this.#turns.handle(replayed);
    return events;
  }

  /**
   * Marks a replayed mode or option as past: the session may have been opened with another one.
   * After a requested replay, the agent reports the current ones.
   */
  readonly #asPast = (event: SessionEvent): SessionEvent => {
    if (this.#isAnswered && this.#options.expected) return event;
    return event.type === 'mode' || event.type === 'config' ? { ...event, isPast: true } : event;
  };

  /** @param mayContinue more of the replay may follow */
  #settle(mayContinue: boolean): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    if (this.#options.compares) this.#addMissing(mayContinue);
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

  #addMissing(mayContinue: boolean): void {
    const { session, log } = this.#options;
    const { state } = this.#model;
    const repeated = { ...state, entries: state.entries.map(withoutHandoffText) };
    session.repeated(repeated.entries);
    const missing = reconcile(session.transcript, repeated, mayContinue);
    session.apply({ type: 'ids_renewed', known: sameIds(session.transcript.entries, repeated.entries) });
    for (const event of missing) session.apply(event);
    if (missing.length > 0) log.info(`the agent repeated the session; ${missing.length} things were new`);
  }
}

function withoutHandoffText(entry: Entry): Entry {
  if (entry.kind !== 'user') return entry;
  const content = entry.content.map((block) =>
    block.type === 'text' ? { ...block, text: withoutHandoff(block.text) } : block,
  );
  return { ...entry, content };
}

class ReplayedTurns {
  readonly #apply: (event: SessionEvent) => void;
  #state = initialTurns();
  /** The agent has begun a turn by itself, without output so far. */
  #isAgentTurn = false;
  #reportsEnds = false;

  constructor(apply: (event: SessionEvent) => void) {
    this.#apply = apply;
  }

  /** The agent reports ends of turns, and has not reported that of the last one. */
  get isOpen(): boolean {
    const { turn } = this.#state;
    return this.#reportsEnds && turn !== undefined && turn.ended === undefined;
  }

  handle(event: SessionEvent): void {
    if ((event.type === 'message' || event.type === 'message_chunk') && event.role === 'user') {
      this.#isAgentTurn = false;
      this.#feed({ type: 'past' });
    } else feedEvent(event, this.#feed);
    if (!this.#isAgentTurn || !this.#state.turn?.hasOutput) return;
    this.#isAgentTurn = false;
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
        this.#isAgentTurn = event.origin === 'agent';
        return;
      case 'turn_ended':
      case 'turn_reason': {
        const { stopReason, tokens, tokenParts } = event;
        const ending = { tokens, tokenParts };
        const barrier = event.type === 'turn_ended' ? event.barrier : undefined;
        this.#reportsEnds = true;
        this.#apply({ type: 'replayed_end', stopReason, barrier, ...ending });
        return;
      }
      case 'error':
        this.#apply(event);
    }
  }
}
