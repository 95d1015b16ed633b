// The turn engine: a pure function from what was sent and received to turns and prompts. Each turn
// begins and ends once, with a reason and what revealed its end; each prompt is taken in once. The
// rules are in src/acp/proposals/turnComplete.ts and promptLifecycle.ts. A v1 turn begins with its
// prompt and ends with the response. Conversations, recordings and the traces of turns drive it.
import { isIdle, isReceipt } from '../../acp/proposals/promptLifecycle';
import type { SessionStatus } from '../../acp/proposals/sessionStatus';
import type { PromptAnswer, StateReport, TurnComplete } from '../../acp/protocol/dialect';
import type { LocalizableText } from '../../base/localizable';
import { promptWithText } from './promptEcho';
import { MAX_IDS } from './turnDraft';
import { TurnEnds } from './turnEnds';
import {
  type Cut,
  GRACES,
  type Graces,
  hasWaitingPrompt,
  isOwnWork,
  type Prompt,
  type TurnEffect,
  type TurnFact,
  type TurnInput,
  type TurnState,
  type UserMessageEvent,
} from './turnState';

const MAX_CALLS = 1000;
const MAX_UNDECIDED = 100;

/**
 * Returns the next state and the effects. A grace that ran out before the input is handled first,
 * at its own time.
 */
export function reduce(
  state: TurnState,
  input: TurnInput,
  graces: Graces = GRACES,
): readonly [TurnState, readonly TurnEffect[]] {
  const until = dueAt(state);
  const isDue = until !== undefined && until <= input.at && input.type !== 'resumed';
  if (!isDue && changesNothing(state, input)) return [state, []];
  const step = new Step(state, graces);
  if (isDue) step.graceOver(until);
  step.process(input);
  return [step.state, step.effects];
}

/** When the next grace runs out, in ms since 1970. */
export function dueAt({ turn, steersUntil }: TurnState): number | undefined {
  const until = turn?.grace?.until;
  return until === undefined || steersUntil === undefined ? (until ?? steersUntil) : Math.min(until, steersUntil);
}

/** Most updates don't affect turns, and there are thousands a second. */
function changesNothing({ turn, undecided }: TurnState, input: TurnInput): boolean {
  if (input.type === 'tick') return true;
  if (input.type === 'call') return turn === undefined || !turn.promised || turn.ended !== undefined;
  if (input.type !== 'update' || undecided) return false;
  return turn === undefined || (!turn.grace && !turn.hasForeignBarrier && (turn.hasOutput === true || !input.isOutput));
}

class Step extends TurnEnds {
  static readonly #handlers: {
    readonly [Type in TurnFact['type']]: (step: Step, fact: Extract<TurnFact, { type: Type }>) => void;
  } = {
    prompt: (step, fact) => step.#prompt(fact),
    sent: (step, { handle, requestId }) => step.#sent(handle, requestId),
    text: (step, { handle, text }) => step.#replaceText(handle, text),
    answer: (step, { handle, answer }) => step.#answer(handle, answer),
    failed: (step, fact) => step.#failed(fact),
    state: (step, { report }) => step.#state(report),
    complete: (step, { barrier }) => step.#complete(barrier),
    message: (step, { event }) => step.#message(event),
    past: (step) => step.#replayedMessage(),
    continues: (step) => {
      if (!step.state.turn) step.start('agent', 'state', false).isRejoined = true;
    },
    update: (step, { isOutput }) => step.#update(isOutput),
    call: (step, { id, isOpen, isNew }) => step.#call(id, isOpen, isNew),
    cancel: (step) => step.#cancel(),
    exited: (step, { note, interrupted }) => step.#exited(note, interrupted),
    cut: (step) => step.#cut(),
    asking: (step) => step.#asking(),
    asked: (step, fact) => step.#asked(fact),
    watch: (step, { quietMs }) => step.#watch(quietMs),
    no_end: (step, { note }) => step.#noEnd(note),
    resumed: (step) => step.#resumed(),
    tick: () => undefined,
  };

  process(input: TurnInput): void {
    this.at = input.at;
    (Step.#handlers[input.type] as (step: Step, fact: TurnFact) => void)(this, input);
  }

  /**
   * Begins a turn of the user, joins the agent's own work, or waits for a turn that takes it in.
   */
  #prompt({ handle, promptId, text, endsBy, promised, steers }: Extract<TurnFact, { type: 'prompt' }>): void {
    const ownWork = !steers && endsBy === 'response' && isOwnWork(this.state) ? this.state.turn : undefined;
    const startsTurn = ownWork !== undefined || (!steers && !this.state.turn && !hasWaitingPrompt(this.state));
    const turn = ownWork ?? (startsTurn ? this.start('user', endsBy, promised) : undefined);
    if (turn) Object.assign(turn, { endsBy, promised });
    this.state.followers++;
    const flags = { inTurn: startsTurn, awaited: true, inserted: false, cancelRequested: false, steers };
    this.state.prompts.push({ handle, promptId, text, endsBy, promised, ...flags });
    if (turn) this.effects.push({ type: 'inserted', handle, promptId, turnId: turn.id });
  }

  #sent(handle: string, requestId: string): void {
    const prompt = this.find(handle);
    if (!prompt) return;
    const { turn } = this.state;
    const isResent = prompt.requestId !== undefined && prompt.requestId !== requestId;
    // An idle from before it was sent again doesn't count.
    if (isResent && prompt.inTurn && turn) Object.assign(turn, { idle: undefined, idleIsDoubtful: false });
    prompt.requestId = requestId;
    this.mark('sent', prompt);
  }

  #replaceText(handle: string, text: string): void {
    const prompt = this.find(handle);
    if (!prompt) return;
    prompt.text = text;
    const { inTurn, promptId } = prompt;
    const { turn } = this.state;
    if (inTurn && turn) this.effects.push({ type: 'inserted', handle, promptId, turnId: turn.id });
  }

  #cancel(): void {
    for (const prompt of this.state.prompts) if (prompt.awaited) prompt.cancelRequested = true;
    const { turn } = this.state;
    this.mark('cancel');
    if (!turn || turn.cancelRequested || turn.ended !== undefined) return;
    turn.cancelRequested = true;
    this.event({ type: 'cancel_requested', turnId: turn.id });
    if (turn.grace?.kind === 'barrier') this.waitFor(turn, 'barrier');
  }

  #state(report: StateReport): void {
    if (this.state.cut) {
      this.state.cut = { ...this.state.cut, state: report };
      return;
    }
    if (report.background) this.event({ type: 'background', work: report.background });
    this.setState(report.state);
    const { turn } = this.state;
    if (isIdle(report)) this.mark('idle', undefined, turn ? undefined : 'late');
    if (turn?.unclear !== undefined) {
      this.onReceipt(this.find(turn.unclear), undefined);
      turn.busySeen = true;
    }
    if (!isIdle(report)) {
      if (turn?.grace?.kind === 'idle') turn.grace = undefined;
      // Work that begins after turn_complete belongs to another turn.
      if (turn?.ended !== undefined && !this.promptsInTurn().some(({ awaited }) => awaited)) this.settle(turn);
      const running = this.state.turn ?? this.start(hasWaitingPrompt(this.state) ? 'user' : 'agent', 'state', false);
      Object.assign(running, { busySeen: true, idle: undefined, idleIsDoubtful: false });
    } else if (turn?.ended !== undefined) {
      if (turn.endsBy === 'state') this.onIdle(turn, report);
    } else if (turn && this.mayEnd(turn, report)) {
      if (turn.hasForeign) this.doubtIdle(turn, report);
      else if (this.promptsInTurn().some(({ awaited }) => awaited)) this.doubtIdle(turn, report, false);
      else this.onIdle(turn, report);
    } else if (turn) turn.idle = report;
  }

  /** Handles a user message with an id: our prompt, a part of it, or another client's message. */
  #message(event: UserMessageEvent): void {
    const { messageId } = event;
    const open = this.openPrompts();
    const named = open.find((prompt) => prompt.messageId === messageId);
    if (named) {
      this.decide();
      this.onEcho(named, messageId);
    }
    if (named || this.state.userIds.includes(messageId)) {
      this.event(event);
      return;
    }
    this.state.undecided = [...(this.state.undecided ?? []), event];
    const message = this.state.undecided.filter((other) => other.messageId === messageId);
    const isOurs = promptWithText(open, message) !== undefined;
    const mayBeOurs =
      promptWithText(open, message, true) ??
      open.find(
        (prompt) => prompt.inTurn && !prompt.inserted && prompt.endsBy === 'state' && prompt.messageId === undefined,
      );
    if (isOurs || !mayBeOurs || this.state.undecided.length > MAX_UNDECIDED) this.decide(false);
  }

  #answer(handle: string, answer: PromptAnswer): void {
    const prompt = this.find(handle);
    const hasStates = this.state.agentState !== undefined || (prompt?.steers && prompt.endsBy === 'state');
    const isTakenIn = isReceipt(answer, hasStates === true);
    this.markAnswer(isTakenIn ? 'receipt' : 'answer', handle);
    if (!prompt?.awaited) return;
    if (prompt.steers && (!answer.ends || this.promptsInTurn().some(({ awaited }) => awaited))) {
      this.#steered(prompt);
      return;
    }
    if (isTakenIn) {
      this.onReceipt(prompt, answer.messageId);
      return;
    }
    if (!prompt.inTurn) this.insert(prompt);
    const { turn } = this.state;
    const { stopReason, note: why } = answer;
    if (!turn) return;
    turn.promised = prompt.promised;
    if (stopReason === undefined && !turn.promised && turn.ended === undefined) {
      turn.unclear = handle;
      this.waitFor(turn, 'unclear');
      return;
    }
    prompt.awaited = false;
    if (turn.ended === undefined && this.promptsInTurn().some(({ awaited }) => awaited)) return;
    this.onAnswer(turn, stopReason, answer, 'response', why);
  }

  /** The message is in the running turn, or was in the one that has just ended. */
  #steered(prompt: Prompt): void {
    const { handle, promptId, inserted, inTurn } = prompt;
    const { turn } = this.state;
    const turnId = turn?.id ?? `t${this.state.turns}`;
    Object.assign(prompt, { awaited: false, inserted: true, inTurn: true });
    if (!inserted) this.effects.push({ type: 'inserted', handle, promptId, turnId });
    // Its echo came after the turn's end and began a turn that no answer ends.
    if (turn && inTurn && !turn.busySeen && this.promptsInTurn().every(({ steers }) => steers)) {
      turn.unclear = handle;
      this.waitFor(turn, 'unclear');
    }
    if (turn) return;
    this.state.prompts = this.state.prompts.filter((other) => other !== prompt);
    this.effects.push({ type: 'done', handle, promptId, result: { turnId, stopReason: 'unknown' } });
  }

  /**
   * Ends the previous turn, even without a word from the agent. A turn without output takes in more
   * messages.
   */
  #replayedMessage(): void {
    const { turn: previous } = this.state;
    const isOver = previous?.ended !== undefined || previous?.hasOutput === true;
    if (previous && isOver) this.settle(previous);
    const turn = this.state.turn ?? this.start('user', 'state', false);
    turn.isPast = true;
    if (this.promptsInTurn().length > 0) return;
    const handle = `past-${++this.state.followers}`;
    const flags = { inTurn: true, awaited: false, inserted: true, echoed: true, cancelRequested: false };
    this.state.prompts.push({ handle, promptId: handle, endsBy: 'state', promised: false, ...flags });
  }

  #update(isOutput: boolean): void {
    if (isOutput) this.decide();
    const { turn } = this.state;
    if (isOutput && turn && !turn.hasOutput) {
      turn.hasOutput = true;
      this.mark('output');
    }
    if (isOutput && turn) turn.hasForeignBarrier = false;
    const { grace } = turn ?? {};
    if (!turn || !grace || turn.ended !== undefined) return;
    if (isOutput && grace.kind === 'renumbered') this.waitFor(turn, 'barrier');
    else if (isOutput) this.waitFor(turn, grace.kind, grace.quietMs);
    else if (grace.until !== undefined)
      turn.grace = { ...grace, until: Math.min(this.at + grace.quietMs, grace.longest ?? Number.POSITIVE_INFINITY) };
  }

  #call(id: string, isOpen: boolean, isNew: boolean): void {
    const { turn, pastCalls } = this.state;
    if (!turn || (isOpen && !isNew && pastCalls.includes(id))) return;
    const otherPast = pastCalls.filter((other) => other !== id);
    this.state.pastCalls = isOpen ? otherPast : [...otherPast, id].slice(-MAX_IDS);
    const otherCalls = turn.calls?.filter((other) => other !== id) ?? [];
    turn.calls = isOpen ? [...otherCalls, id].slice(-MAX_CALLS) : otherCalls;
    if (turn.grace?.kind === 'barrier') this.waitFor(turn, 'barrier');
  }

  #complete(barrier: TurnComplete): void {
    const { turn, cut } = this.state;
    const { promptRequestId: id } = barrier;
    if (!turn || (id !== undefined && this.state.pastIds.includes(id))) {
      const isPast = this.state.pastIds.includes(id ?? '');
      if (isPast) this.state.renumbers = undefined;
      this.markBarrier(id, isPast ? 'doubled' : id === undefined ? 'late' : 'foreign');
      this.log.info(`turn_complete for prompt ${id ?? '(none)'}: no such turn runs, ignored`);
      return;
    }
    const ids = this.requestIds(); // an earlier window may not have stored them
    const names = turn.isRejoined || turn.isPast ? ids.length > 0 : this.promptsInTurn().length > 0;
    if (id !== undefined && names && !ids.includes(id)) {
      this.onForeignBarrier(turn, id);
      return;
    }
    this.markBarrier(id, turn.barrierSeen ? 'doubled' : undefined);
    if (turn.barrierSeen) return;
    if (cut) {
      this.state.cut = { ...cut, complete: barrier };
      return;
    }
    this.onBarrier(turn, barrier);
  }

  #failed({ handle, error, withdrawn }: Extract<TurnFact, { type: 'failed' }>): void {
    const prompt = this.find(handle);
    this.markAnswer('answer', handle);
    if (!prompt?.awaited) return;
    prompt.awaited = false;
    this.decide();
    if (!prompt.inTurn) {
      this.#refused(prompt);
      return;
    }
    const { turn } = this.state;
    if (!turn) return;
    const isCancelled = turn.cancelRequested || withdrawn;
    const { ended } = turn;
    if (!isCancelled) this.event({ type: 'error', ...error, turnId: ended !== undefined ? turn.id : undefined });
    prompt.failed = true;
    const others = this.promptsInTurn().filter(({ failed }) => !failed);
    if (others.some(({ awaited }) => awaited || turn.endsBy === 'state')) return;
    const reason = withdrawn ? 'cancelled' : 'error';
    if (ended === undefined) this.end(turn, reason, 'response', {});
    else if (!turn.cancelRequested) this.changeReason(turn, reason, {});
    this.settle(turn);
  }

  #refused({ handle, promptId, cancelRequested: asked }: Prompt): void {
    this.state.prompts = this.state.prompts.filter((other) => other.handle !== handle);
    this.effects.push({ type: 'done', handle, promptId, refused: { asked } });
  }

  /** Ends running turns. Prompts that the agent has not accepted are lost. */
  #exited(note: LocalizableText, interrupted: boolean): void {
    this.decide();
    this.state.userIds = []; // another process may reuse them
    this.giveBack(({ inTurn }) => !inTurn);
    if (this.state.agentState !== undefined) {
      this.event({ type: 'background', work: [] });
      this.setState('idle');
    }
    this.state.agentState = undefined;
    this.state.cut = undefined;
    this.state.renumbers = undefined;
    const { turn } = this.state;
    if (turn) {
      if (turn.answered && turn.ended === undefined) this.missedBarrier(turn);
      if (turn.ended === undefined) this.end(turn, 'error', 'exit', { note }, interrupted);
      this.settle(turn);
    }
    Object.assign(this.state, { pastIds: [], pastCalls: [] }); // the next connection numbers from the start
  }

  /**
   * Prompts that the agent has not taken in are lost; the open turn waits until the agent was
   * asked.
   */
  #cut(): void {
    const { turn } = this.state;
    if (!turn || !canBeCut(this.state)) return;
    this.decide();
    this.giveBack(({ inTurn }) => !inTurn);
    this.state.pastIds = [];
    Object.assign(turn, { grace: undefined, unclear: undefined, idle: undefined });
    this.state.cut ??= {};
  }

  #asking(): void {
    const { cut } = this.state;
    if (cut) this.state.cut = { ...cut, before: cut.state ?? cut.before, state: undefined };
  }

  /** Continues, ends or loses the turn, depending on the answer. */
  #asked({ status, hasArrived }: Extract<TurnFact, { type: 'asked' }>): void {
    const { turn, cut } = this.state;
    if (!turn || !cut) return;
    const outcome = outcomeOf(cut, status, hasArrived);
    if (outcome.kind === 'lost') {
      this.effects.push({ type: 'lost' });
      return;
    }
    this.state.cut = undefined;
    Object.assign(turn, { endsBy: 'state', isRejoined: true });
    for (const prompt of this.promptsInTurn()) Object.assign(prompt, { inserted: true, awaited: false });
    if (outcome.kind === 'complete') this.onBarrier(turn, outcome.barrier);
    else if (outcome.kind === 'runs') this.#state(outcome.report);
    else if (outcome.kind === 'ended') {
      turn.promised = false;
      this.setState(outcome.report.state);
      this.onIdle(turn, outcome.report);
    }
  }

  #watch(quietMs: number): void {
    const { turn } = this.state;
    if (turn && turn.ended === undefined) turn.grace = { kind: 'watch', quietMs, until: this.at + quietMs };
  }

  /** Earlier versions didn't store what the turn waits for. */
  #resumed(): void {
    const { turn } = this.state;
    this.awaitSteers();
    const { kind = turn?.ended !== undefined ? 'answer' : 'idle', quietMs } = turn?.grace ?? {};
    if (turn && (turn.grace || turn.ended !== undefined || turn.idleIsDoubtful)) this.waitFor(turn, kind, quietMs);
  }

  #noEnd(note: LocalizableText): void {
    const { turn } = this.state;
    if (!turn || turn.ended !== undefined) return;
    this.end(turn, 'unknown', 'timeout', { note });
    this.settle(turn);
  }
}

export function canBeCut({ turn }: TurnState): boolean {
  return turn !== undefined && turn.ended === undefined && !turn.answered;
}

type TurnOutcome =
  | { readonly kind: 'runs'; readonly report: StateReport }
  | { readonly kind: 'ended'; readonly report: StateReport }
  | { readonly kind: 'complete'; readonly barrier: TurnComplete }
  | { readonly kind: 'unsaid' }
  | { readonly kind: 'lost' };

/**
 * @param hasArrived whether the agent has the prompts; undefined: unknown. An idle agent without
 * them has not ended the turn
 */
export function outcomeOf(cut: Cut, { answer, state }: SessionStatus, hasArrived: boolean | undefined): TurnOutcome {
  const report = cut.state ?? state ?? cut.before;
  if (cut.complete && (hasArrived === true || cut.complete.promptRequestId !== undefined))
    return { kind: 'complete', barrier: cut.complete };
  if (answer !== 'live') return { kind: 'lost' };
  if (report && !isIdle(report)) return { kind: 'runs', report };
  if (report) return hasArrived === true ? { kind: 'ended', report } : { kind: 'lost' };
  return hasArrived === false ? { kind: 'lost' } : { kind: 'unsaid' };
}
