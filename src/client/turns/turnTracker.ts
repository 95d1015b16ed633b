// Tracks turns and the prompts in them: each turn begins and ends once, with a reason and with what
// made the end known; each prompt is taken in once. The rules are those of
// src/acp/proposals/turnComplete.ts and promptLifecycle.ts; this file applies them over time. A v1
// turn begins with its prompt and ends with the answer to it.

import { isIdle, reasonOf } from '../../acp/proposals/promptLifecycle';
import type { SessionStatus } from '../../acp/proposals/sessionStatus';
import { BARRIER_GRACE_MS, LONGEST_BARRIER_MS } from '../../acp/proposals/turnComplete';
import type { StateReport, TurnComplete } from '../../acp/protocol/dialect';
import { Deferred } from '../../base/deferred';
import type { LocalizableText } from '../../base/localizable';
import type { ContentBlock, TurnTokens } from '../../session/events/content';
import type { Barrier, SessionEvent, StopReason } from '../../session/events/event';
import { Grace, type GraceOptions } from '../ports/grace';
import { CutTurn } from './cutTurn';
import {
  mayEnd,
  type OpenTurn,
  PLAIN_TERMS,
  type Prompt,
  type PromptTerms,
  requestIds,
  type TurnResult,
} from './openTurn';
import { promptOf, textOf, userMessageOf } from './promptEcho';
import { RecentIds } from './recentIds';
import { type TrackedPrompt, type TrackedTurns, trackedOf } from './trackedTurns';
import type { TurnTrackerOptions } from './turnPorts';

/**
 * How long an answer may trail the barrier before the next prompt goes without it, in milliseconds.
 */
const ANSWER_GRACE_MS = 10_000;
/**
 * How long it stays open what an answer without a reason, or an idle that nothing preceded, means;
 * in milliseconds.
 */
const UNCLEAR_GRACE_MS = 1000;

export class TurnTracker {
  readonly #options: TurnTrackerOptions;
  /** Of earlier prompts, and of messages of the user. */
  readonly #past = new RecentIds();
  readonly #userIds = new RecentIds();
  /** Prompts without an answer, by their handle, in the order in which they left. */
  readonly #prompts = new Map<string, Prompt>();
  #sequence: number;
  #followers = 0;
  #open: OpenTurn | undefined;
  #agentState: string | undefined;
  /** The connection was lost in the open turn, and the agent was not asked about the turn yet. */
  #cut: CutTurn | undefined;

  constructor(options: TurnTrackerOptions) {
    this.#sequence = options.turnsSoFar ?? 0;
    this.#options = options;
  }

  /** The turn that runs or whose answer is still due. */
  get current(): { readonly id: string; readonly cancelRequested: boolean } | undefined {
    return this.#open;
  }

  /** What runs is only the agent's own work: no prompt is part of it. */
  get isOwnWork(): boolean {
    return this.#open !== undefined && this.#open.ended === undefined && this.#open.prompts.size === 0;
  }

  /** Prompts have left that no turn has taken in. */
  get hasWaiting(): boolean {
    return [...this.#prompts.values()].some(({ inserted }) => !inserted);
  }

  /** What another window needs to go on with the same agent. */
  get tracked(): TrackedTurns {
    return trackedOf(this.#open, [...this.#prompts.values()], {
      followers: this.#followers,
      agentState: this.#agentState,
      awaits: (prompt) => this.#awaits(prompt),
    });
  }

  /** The JSON-RPC ids of the prompts whose answers are still to come or still count, by prompt. */
  get requests(): ReadonlyMap<string, string> {
    const all = new Set([...(this.#open?.prompts ?? []), ...this.#prompts.values()]);
    return new Map(
      [...all].flatMap((prompt) =>
        prompt.requestId !== undefined && this.#awaits(prompt) ? [[prompt.terms.promptId, prompt.requestId]] : [],
      ),
    );
  }

  /**
   * Goes on where the tracker of an earlier window stood; before anything else is called.
   * @param contentOf what a prompt says that no turn has taken in yet
   * @param userIds ids of the user's messages in the transcript
   */
  restore(
    tracked: TrackedTurns,
    contentOf: (promptId: string) => readonly ContentBlock[],
    userIds: readonly string[],
  ): void {
    for (const id of userIds) this.#userIds.add(id);
    this.#followers = tracked.followers;
    this.#agentState = tracked.agentState;
    const turn = tracked.turn && ({ ...tracked.turn, prompts: new Set() } as OpenTurn);
    this.#open = turn;
    for (const one of tracked.prompts) this.#restorePrompt(one, turn, contentOf);
    if (turn?.ended !== undefined && turn.barrierSeen) this.#awaitAnswer(turn);
    else if (turn?.idleIsDoubtful && turn.idle) this.#doubtIdle(turn, turn.idle);
  }

  #restorePrompt(
    { awaited, inTurn, ...tracked }: TrackedPrompt,
    turn: OpenTurn | undefined,
    contentOf: (promptId: string) => readonly ContentBlock[],
  ): void {
    const { promptId, endsBy, promised } = tracked;
    const terms = { promptId, content: contentOf(promptId), endsBy, promised };
    const prompt = this.#add(tracked.handle, terms, inTurn ? turn : undefined);
    const { inserted, cancelRequested, messageId, requestId } = tracked;
    Object.assign(prompt, { inserted, cancelRequested, messageId, requestId });
    if (!awaited) this.#prompts.delete(tracked.handle);
  }

  #awaits(prompt: Prompt): boolean {
    if (this.#prompts.get(prompt.handle) === prompt) return true;
    return prompt.turn === this.#open && this.#open?.endsBy === 'response';
  }

  /** The agent reports its state in this session. */
  get statesSeen(): boolean {
    return this.#agentState !== undefined;
  }

  /**
   * Begins a turn of the user with a prompt, or makes it part of the agent's own work.
   * @returns its handle, which is the turn's id.
   * @throws Error where another prompt runs
   */
  begin(terms: PromptTerms = PLAIN_TERMS): { id: string; done: Promise<TurnResult> } {
    const own = this.isOwnWork ? this.#open : undefined;
    if (this.#open && !own) throw new Error(`turn ${this.#open.id} still runs`);
    const turn = own ?? this.#start('user', terms);
    turn.endsBy = terms.endsBy;
    turn.promised = terms.promised;
    const prompt = this.#add(turn.id, terms, turn);
    return {
      id: turn.id,
      done: prompt.done.promise.then((result) => result ?? { turnId: turn.id, stopReason: 'unknown' }),
    };
  }

  /**
   * Notes a prompt that leaves while others are under way.
   * @returns its handle, and the end of the turn that takes it in; undefined where none does
   */
  follow(terms: PromptTerms): { id: string; done: Promise<TurnResult | undefined> } {
    const { handle, done } = this.#add(`f${++this.#followers}`, terms, undefined);
    return { id: handle, done: done.promise };
  }

  /** The prompt left with this JSON-RPC id. */
  sent(handle: string, requestId: string): void {
    const prompt = this.#prompts.get(handle);
    if (prompt) prompt.requestId = requestId;
  }

  /**
   * The user asked to stop. From now on the turn counts as cancelled, whatever the agent calls its
   * end.
   */
  cancelRequested(): void {
    for (const prompt of this.#prompts.values()) prompt.cancelRequested = true;
    const turn = this.#open;
    if (!turn || turn.cancelRequested || turn.ended !== undefined) return;
    turn.cancelRequested = true;
    this.#options.apply({ type: 'cancel_requested', turnId: turn.id });
  }

  /** What the agent says of itself. */
  state(report: StateReport): void {
    if (this.#cut) {
      this.#cut.noteState(report);
      return;
    }
    if (report.background) this.#options.apply({ type: 'background', work: report.background });
    this.#setState(report.state);
    const turn = this.#open;
    if (turn?.unclear) {
      this.received(turn.unclear.handle, undefined);
      turn.busySeen = true;
    }
    if (!isIdle(report)) {
      if (turn?.idleIsDoubtful) turn.grace?.dispose();
      const running = turn ?? this.#start(this.hasWaiting ? 'user' : 'agent', { endsBy: 'state', promised: false });
      running.busySeen = true;
      running.idle = undefined;
      running.idleIsDoubtful = false;
    } else if (turn?.ended !== undefined) {
      if (turn.endsBy === 'state') this.#answer(turn, report.stopReason, report, 'state');
    } else if (turn && mayEnd(turn, report)) this.#idle(turn, report);
    else if (turn) turn.idle = report;
  }

  /**
   * A message of the user's came, which may be what a prompt has become. To be called before it is
   * applied.
   */
  heard(event: SessionEvent): void {
    const message = userMessageOf(event);
    if (!message || this.#userIds.has(message.messageId)) return;
    this.#userIds.add(message.messageId);
    const prompt = promptOf(
      [...this.#prompts.values()].filter(({ inserted }) => !inserted),
      message,
    );
    if (!prompt) return;
    prompt.messageId = message.messageId;
    this.#insert(prompt);
    const { turn } = prompt;
    if (turn?.unclear === prompt) this.received(prompt.handle, undefined);
    else if (turn?.idle) this.#doubtIdle(turn, turn.idle);
  }

  /** The prompt was answered with a receipt: it was taken in. */
  received(handle: string, messageId: string | undefined): void {
    const prompt = this.#prompts.get(handle);
    if (!prompt) return;
    this.#prompts.delete(handle);
    prompt.messageId ??= messageId;
    if (prompt.messageId !== undefined) this.#userIds.add(prompt.messageId);
    if (!prompt.inserted) this.#insert(prompt);
    const { turn } = prompt;
    if (!turn || this.#open !== turn) return;
    turn.endsBy = 'state';
    if (turn.unclear) turn.grace?.dispose();
    turn.unclear = undefined;
    if (!turn.idle || turn.ended !== undefined) return;
    // An agent whose answer trails the end of its turn.
    if (turn.busySeen && !turn.idleIsDoubtful) this.#idle(turn, turn.idle);
    else this.#doubtIdle(turn, turn.idle);
  }

  /** The agent sent an update: whatever a turn waits for, it is not quiet. */
  updated(): void {
    if (this.#open?.ended === undefined) this.#open?.grace?.extend();
  }

  /** The barrier came. */
  turnComplete(barrier: TurnComplete): void {
    const turn = this.#open;
    const { promptRequestId: id } = barrier;
    if (!turn || (id !== undefined && this.#past.has(id))) {
      this.#options.log.info(`turn_complete for prompt ${id ?? '(none)'}: no such turn runs, ignored`);
      return;
    }
    const ids = requestIds(turn); // an earlier window may not have kept them
    if (id !== undefined && (turn.isRejoined ? ids : [...turn.prompts]).length > 0 && !ids.includes(id)) {
      this.#options.log.warn(`turn_complete names prompt ${id}, and ${ids.join(', ')} is in flight: ignored`);
      return;
    }
    if (turn.barrierSeen) return;
    if (this.#cut) {
      this.#cut.noteComplete(barrier);
      return;
    }
    turn.barrierSeen = true;
    if (turn.unclear) turn.answered = { stopReason: 'unknown' };
    turn.unclear = undefined;
    for (const prompt of turn.prompts) if (id === undefined || id === prompt.requestId) prompt.inserted = true;
    turn.grace?.dispose();
    const answer = turn.answered?.stopReason;
    const reason = answer !== undefined && answer !== 'unknown' ? answer : (barrier.stopReason ?? 'unknown');
    this.#end(turn, reason, 'turn_complete', turn.answered);
    if (turn.answered || turn.isRejoined) this.#settle(turn);
    else this.#awaitAnswer(turn);
  }

  /**
   * The answer to the prompt came, and is the end of its turn.
   * @param promised the agent advertises turn_complete
   * @param note an explanation of the end, as a sentence
   */
  answered(
    handle: string,
    stopReason: StopReason | undefined,
    tokens: TurnTokens | undefined,
    promised: boolean,
    note?: LocalizableText,
  ): void {
    const prompt = this.#prompts.get(handle);
    const turn = prompt?.turn;
    if (!prompt || !turn || this.#open !== turn) {
      this.#prompts.delete(handle);
      return; // its turn was closed already
    }
    turn.promised = promised;
    const end = (): void => {
      turn.unclear = undefined;
      this.#prompts.delete(handle);
      this.#answer(turn, stopReason, tokens, 'response', note);
    };
    if (stopReason !== undefined || turn.promised || turn.ended !== undefined) {
      end();
      return;
    }
    turn.unclear = prompt;
    this.#await(turn, { quietMs: UNCLEAR_GRACE_MS }, end);
  }

  /**
   * The prompt was answered with an error. The turn that began with it is over at once; after a
   * cancel an error is the cancel's.
   * @param withdrawn the error says that it was cancelled (-32800)
   * @returns `refused` where it never became part of a turn, and whether it had been asked to stop.
   */
  failed(
    handle: string,
    error: { code: string; message: LocalizableText; hint?: LocalizableText },
    withdrawn = false,
  ): { readonly kind: 'ended' | 'refused'; readonly asked: boolean } {
    const prompt = this.#prompts.get(handle);
    const asked = prompt?.cancelRequested === true;
    this.#prompts.delete(handle);
    if (!prompt) return { kind: 'ended', asked };
    const { turn } = prompt;
    if (!turn) {
      prompt.done.resolve(undefined);
      return { kind: 'refused', asked };
    }
    if (this.#open !== turn) return { kind: 'ended', asked };
    if (!turn.cancelRequested && !withdrawn) this.#options.apply({ type: 'error', ...error });
    if (turn.prompts.size > 1) return { kind: 'ended', asked }; // the others go on
    turn.grace?.dispose();
    if (turn.ended === undefined) this.#end(turn, withdrawn ? 'cancelled' : 'error', 'response', undefined);
    this.#settle(turn);
    return { kind: 'ended', asked };
  }

  /**
   * The agent is gone: running turns end, and prompts that it had not accepted are lost to it.
   * @param note a sentence on how it went @param interrupted it was ended, and has not failed
   */
  exited(note: LocalizableText, interrupted = false): void {
    this.#userIds.clear(); // another process may use them anew
    for (const prompt of this.#prompts.values()) if (!prompt.turn) prompt.done.resolve(undefined);
    this.#prompts.clear();
    if (this.statesSeen) {
      this.#options.apply({ type: 'background', work: [] });
      this.#setState('idle');
    }
    this.#agentState = undefined;
    this.#cut = undefined;
    const turn = this.#open;
    if (turn) {
      turn.grace?.dispose();
      if (turn.ended === undefined) this.#end(turn, 'error', 'exit', undefined, note, interrupted);
      this.#settle(turn);
    }
    this.#past.clear(); // the next connection counts its requests from the beginning
  }

  /**
   * The connection is lost, and the agent may go on with the turn that runs: it stays open until
   * {@link rejoin} or {@link exited}. Prompts that it has not taken in are lost to it.
   * @returns false where no turn runs
   */
  cut(): boolean {
    const turn = this.#open;
    if (!turn || turn.ended !== undefined || turn.answered) return false;
    for (const prompt of this.#prompts.values()) {
      if (prompt.turn === turn) continue;
      prompt.done.resolve(undefined);
      this.#prompts.delete(prompt.handle);
    }
    this.#past.clear(); // the next connection counts its requests from the beginning
    turn.grace?.dispose();
    turn.unclear = undefined;
    turn.idle = undefined;
    this.#cut ??= new CutTurn();
    return true;
  }

  /** The agent is about to be asked about the turn that was cut: what it said until now is older. */
  asking(): void {
    this.#cut?.asking();
  }

  /**
   * The agent was asked about the turn that was cut: the turn goes on with the agent's word, or is
   * over with it.
   * @param hasArrived whether the agent has its prompts; undefined: that is not known
   * @returns false where the agent does not have the turn: it is lost, and {@link exited} ends it
   */
  rejoin(status: SessionStatus, hasArrived: boolean | undefined): boolean {
    const [turn, cut] = [this.#open, this.#cut];
    if (!turn || !cut) return true;
    const fate = cut.fate(status, hasArrived);
    if (fate.kind === 'lost') return false;
    this.#cut = undefined;
    turn.endsBy = 'state';
    turn.isRejoined = true;
    for (const prompt of turn.prompts) {
      prompt.inserted = true;
      this.#prompts.delete(prompt.handle); // its answer was for the connection that is gone
    }
    if (fate.kind === 'complete') this.turnComplete(fate.barrier);
    else if (fate.kind === 'runs') this.state(fate.report);
    else if (fate.kind === 'ended') {
      turn.promised = false;
      this.#setState(fate.report.state);
      this.#idle(turn, fate.report);
    }
    return true;
  }

  /** Runs something once no update has come in the open turn for so many milliseconds. */
  whenQuiet(quietMs: number, run: () => void): void {
    if (this.#open && this.#open.ended === undefined) this.#await(this.#open, { quietMs }, run);
  }

  /** The agent does not say how the turn ended: it counts as over. @param note a sentence on why */
  gaveNoEnd(note: LocalizableText): void {
    const turn = this.#open;
    if (!turn || turn.ended !== undefined) return;
    this.#end(turn, 'unknown', 'timeout', undefined, note);
    this.#settle(turn);
  }

  #add(handle: string, terms: PromptTerms, turn: OpenTurn | undefined): Prompt {
    const prompt: Prompt = {
      handle,
      terms,
      text: terms.echo ?? textOf(terms.content),
      begins: turn !== undefined && terms.endsBy === 'state',
      turn,
      inserted: false,
      cancelRequested: false,
      done: new Deferred(),
    };
    turn?.prompts.add(prompt);
    this.#prompts.set(handle, prompt);
    return prompt;
  }

  #start(origin: 'user' | 'agent', { endsBy, promised }: Pick<PromptTerms, 'endsBy' | 'promised'>): OpenTurn {
    const turn: OpenTurn = {
      id: `t${++this.#sequence}`,
      endsBy,
      promised,
      prompts: new Set(),
      busySeen: false,
      barrierSeen: false,
      cancelRequested: false,
    };
    this.#open = turn;
    this.#options.apply({ type: 'turn_started', turnId: turn.id, origin, at: this.#options.now() });
    return turn;
  }

  /**
   * From here on the prompt is part of a turn: of its own, of the one that runs, or of one that
   * begins with it.
   */
  #insert(prompt: Prompt): void {
    const { terms, messageId } = prompt;
    const { promptId, echo } = terms;
    prompt.inserted = true;
    if (prompt.turn) {
      if (messageId !== undefined) this.#options.apply({ type: 'prompt_inserted', promptId, messageId });
      return;
    }
    const running = this.#open?.ended === undefined ? this.#open : undefined;
    if (!running && this.#open) this.#settle(this.#open);
    const turn = running ?? this.#start('user', terms);
    turn.promised ||= terms.promised;
    turn.prompts.add(prompt);
    prompt.turn = turn;
    const named = { ...(messageId !== undefined && { messageId }), ...(echo !== undefined && { echo }) };
    this.#options.apply({ type: 'prompt_sent', turnId: turn.id, promptId, content: terms.content, ...named });
    this.#options.onInserted?.(promptId);
  }

  /**
   * An idle came before the agent took the prompt in: it is the end of the turn unless the agent
   * continues now.
   */
  #doubtIdle(turn: OpenTurn, report: StateReport): void {
    turn.idleIsDoubtful = true;
    if (mayEnd({ ...turn, busySeen: false }, report))
      this.#await(turn, { quietMs: UNCLEAR_GRACE_MS }, () => this.#idle(turn, report));
  }

  #awaitAnswer(turn: OpenTurn): void {
    this.#await(turn, { quietMs: this.#options.answerGraceMs ?? ANSWER_GRACE_MS }, () => {
      const ids = requestIds(turn).join(', ');
      this.#options.log.warn(`the answer to prompt ${ids} did not follow its turn_complete; going on without it`);
      this.#settle(turn);
    });
  }

  #await(turn: OpenTurn, limits: Pick<GraceOptions, 'quietMs' | 'longestMs'>, onOver: () => void): void {
    turn.grace?.dispose();
    turn.grace = new Grace({ ...limits, schedule: this.#options.schedule, onOver });
  }

  #idle(turn: OpenTurn, report: StateReport): void {
    if (report.error && !turn.cancelRequested) this.#options.apply({ type: 'error', ...report.error });
    this.#answer(turn, reasonOf(report, turn.cancelRequested), report, 'state');
  }

  /** The agent's own word for the end of a turn. */
  #answer(
    turn: OpenTurn,
    stopReason: StopReason | undefined,
    tokens: TurnTokens | undefined,
    by: Barrier,
    note?: LocalizableText,
  ): void {
    turn.grace?.dispose();
    turn.idle = undefined;
    turn.idleIsDoubtful = false;
    const reason = stopReason ?? turn.ended ?? 'unknown';
    turn.answered = { stopReason: reason, ...tokensOf(tokens) };
    if (turn.ended !== undefined) {
      // Its word counts more than the barrier's.
      const final = this.#final(turn, reason);
      if (final !== turn.ended || tokens?.tokens !== undefined) {
        turn.ended = final;
        const said = { turnId: turn.id, stopReason: final, ...tokensOf(tokens) };
        this.#options.apply({ type: 'turn_reason', ...said });
      }
      this.#settle(turn);
    } else if (turn.promised) {
      const quietMs = this.#options.barrierGraceMs ?? BARRIER_GRACE_MS;
      this.#await(turn, { quietMs, longestMs: LONGEST_BARRIER_MS }, () => {
        this.#options.log.warn(`the promised turn_complete of prompt ${requestIds(turn).join(', ')} did not come`);
        this.#end(turn, reason, 'timeout', tokens, 'barrier-missed');
        this.#settle(turn);
      });
    } else {
      this.#end(turn, reason, by, tokens, note);
      this.#settle(turn);
    }
  }

  #final(turn: OpenTurn, reason: StopReason): StopReason {
    return turn.cancelRequested && reason !== 'refusal' ? 'cancelled' : reason;
  }

  #end(
    turn: OpenTurn,
    reason: StopReason,
    barrier: Barrier,
    tokens: TurnTokens | undefined,
    note?: LocalizableText,
    interrupted = false,
  ): void {
    const stopReason = this.#final(turn, reason);
    turn.ended = stopReason;
    const isOwnWord = barrier === 'state' || (turn.endsBy === 'state' && !turn.isRejoined);
    if (!isOwnWord && this.statesSeen) this.#setState('idle');
    this.#options.apply({
      type: 'turn_ended',
      turnId: turn.id,
      stopReason,
      barrier,
      at: this.#options.now(),
      ...tokensOf(tokens),
      ...(note !== undefined && { note }),
      ...(interrupted && { interrupted }),
    });
  }

  #settle(turn: OpenTurn): void {
    if (this.#open !== turn) return;
    turn.grace?.dispose();
    // Ids of an earlier connection may come again in this one.
    if (!turn.isRejoined) for (const id of requestIds(turn)) this.#past.add(id);
    // What the turn has taken in is over with it, also where its answer never came.
    for (const { handle, inserted } of turn.prompts)
      if (inserted || turn.endsBy === 'response') this.#prompts.delete(handle);
    this.#open = undefined;
    this.#cut = undefined;
    const stopReason = turn.ended ?? 'unknown';
    for (const { done } of turn.prompts) done.resolve({ turnId: turn.id, stopReason });
    this.#options.onSettled(stopReason);
  }

  #setState(state: string): void {
    if (this.#agentState === state) return;
    this.#agentState = state;
    this.#options.apply({ type: 'agent_state', state });
  }
}

function tokensOf({ tokens, tokenParts }: TurnTokens = {}): TurnTokens {
  return { ...(tokens !== undefined && { tokens }), ...(tokenParts && { tokenParts }) };
}
