// How an open turn ends: by a message of the agent, or by a grace that runs out. Part of the turn
// engine (engine.ts).
import { reasonOf } from '../../acp/proposals/promptLifecycle';
import type { StateReport, TurnComplete } from '../../acp/protocol/dialect';
import type { LocalizableText } from '../../base/localizable';
import type { TurnTokens } from '../../session/events/content';
import type { Barrier, StopReason } from '../../session/events/event';
import { promptWithText } from './promptEcho';
import { MAX_IDS, TurnDraft } from './turnDraft';
import type { Graces } from './turnState';
import {
  type Ending,
  type GraceKind,
  hasOpenCall,
  hasSteeredPrompt,
  type OpenTurn,
  type Prompt,
  type TurnState,
  type UserMessageEvent,
} from './turnState';

export class TurnEnds extends TurnDraft {
  readonly #graces: Graces;

  constructor(state: TurnState, graces: Graces) {
    super(state);
    this.#graces = graces;
  }

  graceOver(at: number): void {
    const { turn, steersUntil = at + 1 } = this.state;
    this.at = at;
    if (steersUntil <= at) {
      this.giveBack(({ steers, inTurn }) => steers === true && !inTurn);
      return;
    }
    const kind = turn?.grace?.kind;
    if (!turn || !kind) return;
    turn.grace = undefined;
    switch (kind) {
      case 'barrier':
        this.missedBarrier(turn);
        this.settle(turn);
        return;
      case 'renumbered':
        this.acceptRenumbered(turn);
        return;
      case 'answer':
        this.log.warn(`the answer to prompt ${this.requestIds().join(', ')} did not follow its turn_complete`);
        this.settle(turn);
        return;
      case 'unclear':
        this.answeredUnclear(turn);
        this.onAnswer(turn, undefined, {}, 'response');
        return;
      case 'idle':
        if (turn.idle) this.onIdle(turn, turn.idle);
        return;
      case 'watch':
        this.effects.push({ type: 'quiet' });
    }
  }

  /** Gives back prompts that no turn takes in. */
  protected giveBack(isLost: (prompt: Prompt) => boolean): void {
    const lost = this.state.prompts.filter(isLost);
    this.state.prompts = this.state.prompts.filter((prompt) => !lost.includes(prompt));
    this.state.steersUntil = undefined;
    for (const { handle, promptId } of lost) this.effects.push({ type: 'done', handle, promptId });
  }

  /** Limits the wait for steered prompts after their turn: only their answers can still come. */
  protected awaitSteers(): void {
    this.state.steersUntil =
      !this.state.turn && hasSteeredPrompt(this.state) ? this.at + this.#graces.answerMs : undefined;
  }

  protected missedBarrier(turn: OpenTurn): void {
    this.log.warn(`the promised turn_complete of prompt ${this.requestIds().join(', ')} did not come`);
    const { stopReason = 'unknown', said = {} } = turn.answered ?? {};
    this.end(turn, stopReason, 'timeout', { ...said, note: 'barrier-missed' });
  }

  protected onBarrier(turn: OpenTurn, { promptRequestId: id, stopReason }: TurnComplete): void {
    turn.barrierSeen = true;
    turn.grace = undefined;
    if (turn.unclear !== undefined) turn.answered = { stopReason: 'unknown', said: {} };
    this.answeredUnclear(turn);
    for (const prompt of this.promptsInTurn()) if (id === undefined || id === prompt.requestId) prompt.inserted = true;
    const { answered } = turn;
    const reason = answered && answered.stopReason !== 'unknown' ? answered.stopReason : (stopReason ?? 'unknown');
    this.end(turn, reason, 'turn_complete', answered?.said ?? {});
    if (!answered && !turn.isRejoined && this.#isAnswerDue(turn)) {
      this.waitFor(turn, 'answer');
      return;
    }
    // An agent that works by itself may never say that it is idle.
    if (this.promptsInTurn().length === 0 && this.state.agentState !== undefined) this.setState('idle');
    this.settle(turn);
  }

  /** The turn has ended, but its response or idle state is still due. */
  #isAnswerDue({ endsBy, isRejoined, busySeen }: OpenTurn): boolean {
    const prompts = this.promptsInTurn();
    if (prompts.some(({ awaited }) => awaited)) return true;
    return prompts.length > 0 && endsBy === 'state' && !isRejoined && busySeen;
  }

  /** A barrier for another client's prompt, or for ours renumbered by a proxy. */
  protected onForeignBarrier(turn: OpenTurn, id: string): void {
    this.markBarrier(id, 'foreign');
    this.log.info(`turn_complete names prompt ${id}, and ${this.requestIds().join(', ')} is in flight`);
    if (turn.ended !== undefined) return;
    turn.hasForeignBarrier = true;
    if (turn.grace?.kind === 'barrier') this.awaitBarrier(turn);
  }

  /**
   * Waits for the promised turn_complete after the response, or until one with an unknown id must
   * have been it.
   */
  protected awaitBarrier(turn: OpenTurn): void {
    if (!turn.hasForeignBarrier || hasOpenCall(turn)) this.waitFor(turn, 'barrier');
    else if (this.state.renumbers) this.acceptRenumbered(turn);
    else this.waitFor(turn, 'renumbered');
  }

  protected acceptRenumbered(turn: OpenTurn): void {
    const { stopReason = 'unknown', said = {} } = turn.answered ?? {};
    this.state.renumbers = true;
    turn.barrierSeen = true;
    this.end(turn, stopReason, 'turn_complete', said);
    this.settle(turn);
  }

  protected answeredUnclear(turn: OpenTurn): void {
    const prompt = this.find(turn.unclear ?? '');
    if (prompt) prompt.awaited = false;
    turn.unclear = undefined;
  }

  protected onReceipt(prompt: Prompt | undefined, messageId: string | undefined): void {
    if (!prompt) return;
    const { turn } = this.state;
    const wasInTurn = prompt.inTurn;
    prompt.awaited = false;
    if (messageId !== undefined && (prompt.messageId ?? messageId) !== messageId) {
      // The echo was another client's message in the same words.
      Object.assign(prompt, { messageId, echoed: false });
      if (turn && wasInTurn) turn.hasForeign = true;
    }
    if (messageId !== undefined) this.#identify(prompt, messageId);
    if (!prompt.inserted) this.insert(prompt);
    if (prompt.messageId !== undefined) this.decide();
    if (!wasInTurn || !turn) return;
    turn.endsBy = 'state';
    if (turn.unclear !== undefined) turn.grace = undefined;
    turn.unclear = undefined;
    if (turn.ended !== undefined) {
      if (turn.idle) this.onIdle(turn, turn.idle);
      else if (!this.#isAnswerDue(turn)) this.settle(turn);
    } else if (!turn.idle) return;
    // The response came after the end of the turn.
    else if (turn.busySeen && !turn.idleIsDoubtful && !turn.hasForeign) this.onIdle(turn, turn.idle);
    else this.doubtIdle(turn, turn.idle);
  }

  /** The agent echoes a prompt, and works on it from now on. */
  protected onEcho(prompt: Prompt, messageId: string): void {
    const { turn } = this.state;
    this.mark('echo', prompt);
    prompt.echoed = true;
    if (prompt.inTurn && turn?.hasForeign) {
      // The earlier idle ended the work on the other client's message.
      Object.assign(turn, { hasForeign: false, idle: undefined, idleIsDoubtful: false });
      if (turn.grace?.kind === 'idle') turn.grace = undefined;
    }
    this.#identify(prompt, messageId);
    if (prompt.inserted) return;
    const wasInTurn = prompt.inTurn;
    this.insert(prompt);
    if (!wasInTurn || !turn) return;
    if (turn.unclear === prompt.handle) this.onReceipt(prompt, undefined);
    else if (turn.idle) this.doubtIdle(turn, turn.idle);
  }

  #identify(prompt: Prompt, messageId: string): void {
    const { promptId, inserted, inTurn } = prompt;
    const isKnown = prompt.messageId === messageId;
    prompt.messageId = messageId;
    this.rememberUserId(messageId);
    if (!isKnown && inserted && inTurn) this.event({ type: 'prompt_inserted', promptId, messageId });
  }

  /** Makes the prompt part of its turn, of the running one, or of a new one. */
  protected insert(prompt: Prompt): void {
    const { handle, promptId, messageId, endsBy, promised } = prompt;
    prompt.inserted = true;
    if (prompt.inTurn) {
      if (messageId !== undefined) this.event({ type: 'prompt_inserted', promptId, messageId });
      return;
    }
    const { turn: open } = this.state;
    if (open && open.ended !== undefined) this.settle(open);
    const turn = this.state.turn ?? this.start('user', endsBy, promised);
    turn.promised ||= promised;
    prompt.inTurn = true;
    this.effects.push({ type: 'inserted', handle, promptId, turnId: turn.id, messageId });
  }

  protected openPrompts(): Prompt[] {
    return this.state.prompts.filter(({ inserted, inTurn, echoed }) => !inserted || (inTurn && !echoed));
  }

  /**
   * Decides which messages are our prompts. With `guesses`, a prompt that was taken in without an
   * id may have other words.
   */
  protected decide(guesses = true): void {
    const { undecided } = this.state;
    if (!undecided) return;
    const open = new Set(this.openPrompts());
    const unnamed =
      this.state.turn?.endsBy === 'state' &&
      [...open].find((prompt) => prompt.inTurn && prompt.inserted && !prompt.awaited && prompt.messageId === undefined);
    const prompts = new Map<string, Prompt>();
    for (const id of new Set(undecided.map(({ messageId }) => messageId))) {
      const named = [...open].find(({ messageId }) => messageId === id);
      const message = undecided.filter(({ messageId }) => messageId === id);
      const prompt = named ?? promptWithText([...open], message);
      if (prompt) prompts.set(id, prompt);
      if (prompt) open.delete(prompt);
    }
    const [first] = undecided;
    if (first && unnamed && guesses && prompts.size === 0) prompts.set(first.messageId, unnamed);
    this.state.undecided = undefined;
    for (const event of undecided) {
      const prompt = prompts.get(event.messageId);
      if (!prompt) this.#foreign(event);
      else {
        if (!prompt.echoed) this.onEcho(prompt, event.messageId);
        this.event(event);
      }
    }
  }

  #foreign(event: UserMessageEvent): void {
    const { turn, prompts } = this.state;
    this.rememberUserId(event.messageId);
    this.event(event);
    this.mark('echo', undefined, 'foreign');
    if (turn && prompts.some(({ inTurn, echoed }) => inTurn && !echoed)) turn.hasForeign = true;
  }

  /** Returns whether an idle ends this turn, and is neither repeated nor the end of other work. */
  protected mayEnd(turn: OpenTurn, { stopReason, error }: StateReport, busySeen = turn.busySeen): boolean {
    if (turn.endsBy === 'response') return false;
    const prompts = this.promptsInTurn();
    if (prompts.length === 0) return busySeen;
    return prompts.some(({ inserted }) => inserted) && (busySeen || stopReason !== undefined || error !== undefined);
  }

  /**
   * Treats an idle as the end unless the agent continues now, or its receipt names another message.
   */
  protected doubtIdle(turn: OpenTurn, report: StateReport, isEarly = true): void {
    turn.idle = report;
    turn.idleIsDoubtful = isEarly;
    if (!isEarly || this.mayEnd(turn, report, turn.hasForeign === true)) this.waitFor(turn, 'idle');
  }

  protected onIdle(turn: OpenTurn, report: StateReport): void {
    const { id: turnId, ended, cancelRequested } = turn;
    const { stopReason, error } = report;
    if (error && !cancelRequested)
      this.event({ type: 'error', ...error, turnId: ended !== undefined ? turnId : undefined });
    const later = stopReason ?? (error && 'error');
    this.onAnswer(turn, ended === undefined ? reasonOf(report, cancelRequested) : later, report, 'state');
  }

  /** Ends the turn by the agent's response or idle state. */
  protected onAnswer(
    turn: OpenTurn,
    stopReason: StopReason | undefined,
    { tokens, tokenParts }: TurnTokens,
    by: Barrier,
    note?: LocalizableText,
  ): void {
    Object.assign(turn, { grace: undefined, idle: undefined, idleIsDoubtful: false });
    const reason = stopReason ?? turn.ended ?? 'unknown';
    const ending = { tokens, tokenParts };
    turn.answered = { stopReason: reason, said: ending };
    if (turn.ended !== undefined) {
      this.changeReason(turn, reason, ending);
      this.settle(turn);
    } else if (turn.promised) this.awaitBarrier(turn);
    else {
      this.end(turn, reason, by, { ...ending, note });
      this.settle(turn);
    }
  }

  protected changeReason(turn: OpenTurn, reason: StopReason, said: Ending): void {
    const stopReason = finalReason(turn, reason);
    if (stopReason === turn.ended && said.tokens === undefined) return;
    turn.ended = stopReason;
    this.event({ type: 'turn_reason', turnId: turn.id, stopReason, ...said });
  }

  protected end(turn: OpenTurn, reason: StopReason, barrier: Barrier, said: Ending, interrupted = false): void {
    this.decide();
    const stopReason = finalReason(turn, reason);
    turn.ended = stopReason;
    const isOwnWord = barrier === 'state' || (turn.endsBy === 'state' && !turn.isRejoined);
    if (!isOwnWord && this.state.agentState !== undefined) this.setState('idle');
    const end = { turnId: turn.id, stopReason, barrier, at: this.at, ...said };
    this.event({ type: 'turn_ended', ...end, interrupted: interrupted || undefined });
  }

  protected settle(turn: OpenTurn): void {
    if (this.state.turn !== turn) return;
    this.mark('settled');
    // Ids of an earlier connection may be reused on this one.
    if (!turn.isRejoined) this.state.pastIds = [...this.state.pastIds, ...this.requestIds()].slice(-MAX_IDS);
    if (turn.calls?.length) this.state.pastCalls = [...this.state.pastCalls, ...turn.calls].slice(-MAX_IDS);
    const finished = this.promptsInTurn();
    this.state.prompts = this.state.prompts.filter(({ inTurn }) => !inTurn);
    this.state.turn = undefined;
    this.state.cut = undefined;
    this.awaitSteers();
    const result = { turnId: turn.id, stopReason: turn.ended ?? 'unknown' } as const;
    for (const { handle, promptId } of finished) this.effects.push({ type: 'done', handle, promptId, result });
    this.effects.push({ type: 'settled', stopReason: result.stopReason });
  }

  protected waitFor(turn: OpenTurn, kind: GraceKind, quiet?: number): void {
    const { barrierMs, longestBarrierMs, answerMs, unclearMs } = this.#graces;
    const quietMs = quiet ?? { barrier: barrierMs, answer: answerMs }[kind as string] ?? unclearMs;
    if (kind === 'barrier' && hasOpenCall(turn)) turn.grace = { kind, quietMs };
    else {
      const longest = kind === 'watch' ? {} : { longest: this.at + longestBarrierMs };
      turn.grace = { kind, quietMs, until: this.at + quietMs, ...longest };
    }
  }
}

/** A turn that the user stopped counts as cancelled, whatever reason the agent gives. */
function finalReason({ cancelRequested }: OpenTurn, reason: StopReason): StopReason {
  return cancelRequested && reason !== 'refusal' ? 'cancelled' : reason;
}
