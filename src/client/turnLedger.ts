// Turns: each begins once and ends once, with a reason and with what made the end known. The rules of the barrier are those of src/acp/turnComplete.ts; this file
// keeps them over time.

import { BARRIER_GRACE_MS, type TurnComplete } from '../acp/turnComplete';
import { Deferred } from '../base/deferred';
import type { Log } from '../base/log';
import type { Barrier, SessionEvent, StopReason } from '../session/event';

/** How long an answer may trail the barrier before the next prompt goes without it, in milliseconds. */
const ANSWER_GRACE_MS = 10_000;
/** Ids of earlier prompts that are remembered, to know a repetition. */
const MAX_PAST_IDS = 200;

export interface TurnResult {
  readonly turnId: string;
  readonly stopReason: StopReason;
}

export interface LedgerOptions {
  readonly apply: (event: SessionEvent) => void;
  readonly now: () => number;
  readonly log: Log;
  /** Called when nothing is expected of the turn any more: the next prompt may go. */
  readonly onSettled: () => void;
  readonly barrierGraceMs?: number;
  readonly answerGraceMs?: number;
}

interface OpenTurn {
  readonly id: string;
  requestId?: string;
  ended?: StopReason;
  barrierSeen: boolean;
  answered?: { stopReason: StopReason; tokens?: number };
  cancelRequested: boolean;
  timer?: ReturnType<typeof setTimeout>;
  readonly done: Deferred<TurnResult>;
}

export class TurnLedger {
  readonly #options: LedgerOptions;
  readonly #past = new Set<string>();
  #sequence = 0;
  #open: OpenTurn | undefined;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /** The turn that runs or whose answer is still due. */
  get current(): { readonly id: string; readonly cancelRequested: boolean } | undefined {
    return this.#open;
  }

  /** Begins a turn of the user. @throws Error where one runs: a client sends one prompt at a time. */
  begin(): { id: string; done: Promise<TurnResult> } {
    if (this.#open) throw new Error(`turn ${this.#open.id} still runs`);
    const turn: OpenTurn = {
      id: `t${++this.#sequence}`,
      barrierSeen: false,
      cancelRequested: false,
      done: new Deferred(),
    };
    this.#open = turn;
    this.#options.apply({ type: 'turn_started', turnId: turn.id, origin: 'user', at: this.#options.now() });
    return { id: turn.id, done: turn.done.promise };
  }

  /** The prompt left with this JSON-RPC id. */
  sent(turnId: string, requestId: string): void {
    if (this.#open?.id === turnId) this.#open.requestId = requestId;
  }

  /** The user asked to stop. From now on the turn counts as cancelled, whatever the agent calls its end. */
  cancelRequested(): void {
    const turn = this.#open;
    if (!turn || turn.cancelRequested || turn.ended !== undefined) return;
    turn.cancelRequested = true;
    this.#options.apply({ type: 'cancel_requested', turnId: turn.id });
  }

  /** The barrier came. */
  turnComplete(barrier: TurnComplete): void {
    const turn = this.#open;
    const { promptRequestId: id } = barrier;
    if (!turn || (id !== undefined && this.#past.has(id))) {
      this.#options.log.info(`turn_complete for prompt ${id ?? '(none)'}: no such turn runs, ignored`);
      return;
    }
    if (id !== undefined && turn.requestId !== undefined && id !== turn.requestId) {
      this.#options.log.warn(`turn_complete names prompt ${id}; taken for the one in flight, ${turn.requestId}`);
    }
    if (turn.barrierSeen) return;
    turn.barrierSeen = true;
    clearTimeout(turn.timer);
    const reason = turn.answered?.stopReason ?? barrier.stopReason ?? 'unknown';
    this.#end(turn, reason, 'turn_complete', turn.answered?.tokens);
    if (turn.answered) this.#settle(turn);
    else
      turn.timer = setTimeout(() => {
        this.#options.log.warn(
          `the answer to prompt ${turn.requestId} did not follow its turn_complete; going on without it`,
        );
        this.#settle(turn);
      }, this.#options.answerGraceMs ?? ANSWER_GRACE_MS);
  }

  /** The answer to the prompt came. @param promised the agent advertises turn_complete. */
  answered(turnId: string, stopReason: StopReason | undefined, tokens: number | undefined, promised: boolean): void {
    const turn = this.#open;
    if (turn?.id !== turnId) return; // its turn was closed already
    clearTimeout(turn.timer);
    const reason = stopReason ?? (turn.ended !== undefined ? turn.ended : 'unknown');
    turn.answered = { stopReason: reason, ...(tokens !== undefined && { tokens }) };
    if (turn.ended !== undefined) {
      // The answer's word counts more than the barrier's.
      const final = this.#final(turn, reason);
      if (final !== turn.ended || tokens !== undefined) {
        turn.ended = final;
        this.#options.apply({
          type: 'turn_reason',
          turnId: turn.id,
          stopReason: final,
          ...(tokens !== undefined && { tokens }),
        });
      }
      this.#settle(turn);
    } else if (promised) {
      turn.timer = setTimeout(() => {
        this.#options.log.warn(`the promised turn_complete of prompt ${turn.requestId} did not come`);
        this.#end(turn, reason, 'timeout', tokens, 'the agent promised turn_complete and did not send it');
        this.#settle(turn);
      }, this.#options.barrierGraceMs ?? BARRIER_GRACE_MS);
    } else {
      this.#end(turn, reason, 'response', tokens);
      this.#settle(turn);
    }
  }

  /** The prompt was answered with an error: over at once. After a cancel an error is the cancel's. */
  failed(turnId: string, error: { code: string; message: string; hint?: string }): void {
    const turn = this.#open;
    if (turn?.id !== turnId) return;
    clearTimeout(turn.timer);
    if (!turn.cancelRequested) this.#options.apply({ type: 'error', ...error });
    if (turn.ended === undefined) this.#end(turn, 'error', 'response', undefined);
    this.#settle(turn);
  }

  /** The agent is gone: what runs is over. @param note a sentence on how it went. */
  exited(note: string): void {
    const turn = this.#open;
    if (!turn) return;
    clearTimeout(turn.timer);
    if (turn.ended === undefined) this.#end(turn, 'error', 'exit', undefined, note);
    this.#settle(turn);
  }

  #final(turn: OpenTurn, reason: StopReason): StopReason {
    return turn.cancelRequested && reason !== 'refusal' ? 'cancelled' : reason;
  }

  #end(turn: OpenTurn, reason: StopReason, barrier: Barrier, tokens: number | undefined, note?: string): void {
    const stopReason = this.#final(turn, reason);
    turn.ended = stopReason;
    this.#options.apply({
      type: 'turn_ended',
      turnId: turn.id,
      stopReason,
      barrier,
      at: this.#options.now(),
      ...(tokens !== undefined && { tokens }),
      ...(note !== undefined && { note }),
    });
  }

  #settle(turn: OpenTurn): void {
    if (this.#open !== turn) return;
    clearTimeout(turn.timer);
    if (turn.requestId !== undefined) {
      this.#past.add(turn.requestId);
      const [oldest] = this.#past;
      if (this.#past.size > MAX_PAST_IDS && oldest !== undefined) this.#past.delete(oldest);
    }
    this.#open = undefined;
    turn.done.resolve({ turnId: turn.id, stopReason: turn.ended ?? 'unknown' });
    this.#options.onSettled();
  }
}
