// How an open turn ends: by what the agent says of it, or when nothing came in time. Part of the
// turn engine (engine.ts).
import { reasonOf } from '../../acp/proposals/promptLifecycle';
import type { StateReport, TurnComplete } from '../../acp/protocol/dialect';
import type { LocalizableText } from '../../base/localizable';
import type { TurnTokens } from '../../session/events/content';
import type { Barrier, StopReason } from '../../session/events/event';
import type { Graces } from './graces';
import { MAX_IDS, TurnDraft } from './turnDraft';
import {
  type Ending,
  type GraceKind,
  hasOpenCall,
  type OpenTurn,
  type TurnState,
  type UserMessageEvent,
} from './turnState';

export class TurnEnds extends TurnDraft {
  readonly #graces: Graces;

  constructor(state: TurnState, graces: Graces) {
    super(state);
    this.#graces = graces;
  }

  /** Nothing came in time. */
  graceOver(at: number): void {
    const { turn } = this.state;
    const kind = turn?.grace?.kind;
    if (!turn || !kind) return;
    this.at = at;
    turn.grace = undefined;
    const { stopReason = 'unknown', said = {} } = turn.answered ?? {};
    switch (kind) {
      case 'barrier':
        this.log.warn(`the promised turn_complete of prompt ${this.requestIds().join(', ')} did not come`);
        this.end(turn, stopReason, 'timeout', { ...said, note: 'barrier-missed' });
        this.settle(turn);
        return;
      case 'renumbered':
        this.renumbered(turn);
        return;
      case 'answer':
        this.log.warn(`the answer to prompt ${this.requestIds().join(', ')} did not follow its turn_complete`);
        this.settle(turn);
        return;
      case 'unclear':
        // Nothing followed the answer without a reason: it was the end.
        this.answeredUnclear(turn);
        this.answered(turn, undefined, {}, 'response');
        return;
      case 'idle':
        if (turn.idle) this.idle(turn, turn.idle);
        return;
      case 'watch':
        this.effects.push({ type: 'quiet' });
    }
  }

  protected barrier(turn: OpenTurn, { promptRequestId: id, stopReason }: TurnComplete): void {
    turn.barrierSeen = true;
    turn.grace = undefined;
    if (turn.unclear !== undefined) turn.answered = { stopReason: 'unknown', said: {} };
    this.answeredUnclear(turn);
    for (const prompt of this.promptsInTurn()) if (id === undefined || id === prompt.requestId) prompt.inserted = true;
    const { answered } = turn;
    const reason = answered && answered.stopReason !== 'unknown' ? answered.stopReason : (stopReason ?? 'unknown');
    this.end(turn, reason, 'turn_complete', answered?.said ?? {});
    const prompts = this.promptsInTurn();
    const isIdleDue = turn.endsBy === 'state' && !turn.isRejoined && turn.busySeen && prompts.length > 0;
    const isAnswerDue = isIdleDue || prompts.some(({ awaited }) => awaited);
    if (!answered && !turn.isRejoined && isAnswerDue) this.await(turn, 'answer');
    else {
      // An agent that works by itself may never say that it is idle.
      if (prompts.length === 0 && this.state.agentState !== undefined) this.setState('idle');
      this.settle(turn);
    }
  }

  /** It names another client's prompt, or ours by the number that a proxy gave it. */
  protected foreignBarrier(turn: OpenTurn, id: string): void {
    this.markBarrier(id, 'foreign');
    this.log.info(`turn_complete names prompt ${id}, and ${this.requestIds().join(', ')} is in flight`);
    if (turn.ended !== undefined) return;
    turn.hasForeignBarrier = true;
    if (turn.grace?.kind === 'barrier') this.awaitBarrier(turn);
  }

  /** Waits for the promised turn_complete after the answer, or until an unknown id must have been it. */
  protected awaitBarrier(turn: OpenTurn): void {
    if (!turn.hasForeignBarrier || hasOpenCall(turn)) this.await(turn, 'barrier');
    else if (this.state.renumbers) this.renumbered(turn);
    else this.await(turn, 'renumbered');
  }

  protected renumbered(turn: OpenTurn): void {
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

  /**
   * The agent has said which message is our prompt: the other ones are another client's.
   * @param messageId undefined: none of the undecided ones
   */
  protected decide(messageId: string | undefined): void {
    const { undecided } = this.state;
    if (!undecided) return;
    this.state.undecided = undefined;
    const ours = undecided.filter((event) => event.messageId === messageId);
    this.foreign(undecided.filter((event) => event.messageId !== messageId));
    for (const event of ours) this.event(event);
  }

  protected foreign(events: readonly UserMessageEvent[]): void {
    const { turn, prompts } = this.state;
    for (const event of events) {
      this.rememberUserId(event.messageId);
      this.event(event);
      this.mark('echo', undefined, 'foreign');
    }
    if (turn && events.length > 0 && prompts.some(({ inTurn, echoed }) => inTurn && !echoed)) turn.hasForeign = true;
  }

  /** Returns whether an idle is the end of a turn, and not a repetition or the end of something else. */
  protected mayEnd(turn: OpenTurn, { stopReason, error }: StateReport, busySeen = turn.busySeen): boolean {
    if (turn.endsBy === 'response') return false;
    const prompts = this.promptsInTurn();
    if (prompts.length === 0) return busySeen;
    return prompts.some(({ inserted }) => inserted) && (busySeen || stopReason !== undefined || error !== undefined);
  }

  /** An idle that came too early is the end unless the agent continues now. */
  protected doubtIdle(turn: OpenTurn, report: StateReport): void {
    turn.idle = report;
    turn.idleIsDoubtful = true;
    if (this.mayEnd(turn, report, turn.hasForeign === true)) this.await(turn, 'idle');
  }

  protected idle(turn: OpenTurn, report: StateReport): void {
    if (report.error && !turn.cancelRequested) this.event({ type: 'error', ...report.error });
    this.answered(turn, reasonOf(report, turn.cancelRequested), report, 'state');
  }

  /** The agent's own word for the end of a turn. */
  protected answered(
    turn: OpenTurn,
    stopReason: StopReason | undefined,
    { tokens, tokenParts }: TurnTokens,
    by: Barrier,
    note?: LocalizableText,
  ): void {
    Object.assign(turn, { grace: undefined, idle: undefined, idleIsDoubtful: false });
    const reason = stopReason ?? turn.ended ?? 'unknown';
    const said = { ...(tokens !== undefined && { tokens }), ...(tokenParts && { tokenParts }) };
    turn.answered = { stopReason: reason, said };
    if (turn.ended !== undefined) {
      // It counts more than the reason of turn_complete.
      this.changeReason(turn, reason, said);
      this.settle(turn);
    } else if (turn.promised) this.awaitBarrier(turn);
    else {
      this.end(turn, reason, by, { ...said, ...(note !== undefined && { note }) });
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
    this.decide(undefined);
    const stopReason = finalReason(turn, reason);
    turn.ended = stopReason;
    const isOwnWord = barrier === 'state' || (turn.endsBy === 'state' && !turn.isRejoined);
    if (!isOwnWord && this.state.agentState !== undefined) this.setState('idle');
    const end = { turnId: turn.id, stopReason, barrier, at: this.at, ...said };
    this.event({ type: 'turn_ended', ...end, ...(interrupted && { interrupted }) });
  }

  protected settle(turn: OpenTurn): void {
    if (this.state.turn !== turn) return;
    this.mark('settled');
    // Ids of an earlier connection may come again in this one.
    if (!turn.isRejoined) this.state.pastIds = [...this.state.pastIds, ...this.requestIds()].slice(-MAX_IDS);
    const over = this.promptsInTurn();
    this.state.prompts = this.state.prompts.filter(({ inTurn }) => !inTurn);
    this.state.turn = undefined;
    this.state.cut = undefined;
    const result = { turnId: turn.id, stopReason: turn.ended ?? 'unknown' } as const;
    for (const { handle, promptId } of over) this.effects.push({ type: 'done', handle, promptId, result });
    this.effects.push({ type: 'settled', stopReason: result.stopReason });
  }

  protected await(turn: OpenTurn, kind: GraceKind): void {
    const { barrierMs, longestBarrierMs, answerMs, unclearMs } = this.#graces;
    const quietMs = { barrier: barrierMs, answer: answerMs }[kind as string] ?? unclearMs;
    if (kind === 'barrier' && hasOpenCall(turn)) turn.grace = { kind, quietMs };
    else {
      const longest = kind === 'barrier' ? { longest: this.at + longestBarrierMs } : {};
      turn.grace = { kind, quietMs, until: this.at + quietMs, ...longest };
    }
  }
}

/** A turn that the user stopped counts as cancelled, whatever the agent calls its end. */
function finalReason({ cancelRequested }: OpenTurn, reason: StopReason): StopReason {
  return cancelRequested && reason !== 'refusal' ? 'cancelled' : reason;
}
