// The turn engine: what prompts and turns become, as a pure function of what was sent and heard.
// Each turn begins and ends once, with a reason and with what made the end known; each prompt is
// taken in once. The rules are those of src/acp/proposals/turnComplete.ts and promptLifecycle.ts. A
// v1 turn begins with its prompt and ends with the answer to it. Conversations, recordings and the
// traces of turns are drivers of it.
import { isIdle, isReceipt } from '../../acp/proposals/promptLifecycle';
import type { PromptAnswer, StateReport, TurnComplete } from '../../acp/protocol/dialect';
import type { LocalizableText } from '../../base/localizable';
import { fateOf } from './cutTurn';
import { GRACES, type Graces } from './graces';
import { promptOf } from './promptEcho';
import { TurnEnds } from './turnEnds';
import {
  hasWaiting,
  isOwnWork,
  type Prompt,
  type TurnEffect,
  type TurnFact,
  type TurnInput,
  type TurnState,
  type UserMessageEvent,
} from './turnState';

const MAX_CALLS = 1000;

/**
 * Returns the next state and what follows from an input. A grace that was over before the input is
 * handled first, at the time when it was over.
 */
export function reduce(
  state: TurnState,
  input: TurnInput,
  graces: Graces = GRACES,
): readonly [TurnState, readonly TurnEffect[]] {
  const until = dueAt(state);
  const isDue = until !== undefined && until <= input.at;
  if (!isDue && changesNothing(state, input)) return [state, []];
  const step = new Step(state, graces);
  if (isDue) step.graceOver(until);
  step.take(input);
  return [step.state, step.effects];
}

/** Returns when something is decided if nothing comes, ms since 1970. */
export function dueAt({ turn }: TurnState): number | undefined {
  return turn?.grace?.until;
}

/** Most updates say nothing about turns, and there are thousands a second. */
function changesNothing({ turn, undecided }: TurnState, input: TurnInput): boolean {
  if (input.type === 'tick') return true;
  if (input.type === 'call') return turn === undefined || !turn.promised || turn.ended !== undefined;
  if (input.type !== 'update' || undecided) return false;
  return turn === undefined || (!turn.grace && !turn.hasForeignBarrier && (turn.hasOutput === true || !input.isOutput));
}

class Step extends TurnEnds {
  static readonly #takes: {
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
    past: (step) => step.#past(),
    continues: (step) => step.#continues(),
    update: (step, { isOutput }) => step.#update(isOutput),
    call: (step, { id, isOpen }) => step.#call(id, isOpen),
    cancel: (step) => step.#cancel(),
    exited: (step, { note, interrupted }) => step.#exited(note, interrupted),
    cut: (step) => step.#cut(),
    asking: (step) => step.#asking(),
    asked: (step, fact) => step.#asked(fact),
    watch: (step, { quietMs }) => step.#watch(quietMs),
    no_end: (step, { note }) => step.#noEnd(note),
    tick: () => undefined,
  };

  take(input: TurnInput): void {
    this.at = input.at;
    (Step.#takes[input.type] as (step: Step, fact: TurnFact) => void)(this, input);
  }

  /** Begins a turn of the user, joins the agent's own work, or waits for a turn that takes it in. */
  #prompt({ handle, promptId, text, endsBy, promised }: Extract<TurnFact, { type: 'prompt' }>): void {
    const own = endsBy === 'response' && isOwnWork(this.state) ? this.state.turn : undefined;
    const begins = own !== undefined || (!this.state.turn && !hasWaiting(this.state));
    const turn = own ?? (begins ? this.start('user', endsBy, promised) : undefined);
    if (turn) Object.assign(turn, { endsBy, promised });
    this.state.followers++;
    const flags = { inTurn: begins, awaited: true, inserted: false, cancelRequested: false };
    this.state.prompts.push({ handle, promptId, text, endsBy, promised, ...flags });
    if (turn) this.effects.push({ type: 'inserted', handle, promptId, turnId: turn.id, begins });
  }

  #sent(handle: string, requestId: string): void {
    const prompt = this.find(handle);
    if (!prompt) return;
    const { turn } = this.state;
    const isAgain = prompt.requestId !== undefined && prompt.requestId !== requestId;
    // What was idle before it was sent again has not worked on it.
    if (isAgain && prompt.inTurn && turn) Object.assign(turn, { idle: undefined, idleIsDoubtful: false });
    prompt.requestId = requestId;
    this.mark('sent', prompt);
  }

  #replaceText(handle: string, text: string): void {
    const prompt = this.find(handle);
    if (!prompt) return;
    prompt.text = text;
    const { inTurn, promptId } = prompt;
    const { turn } = this.state;
    if (inTurn && turn) this.effects.push({ type: 'inserted', handle, promptId, turnId: turn.id, begins: false });
  }

  #cancel(): void {
    for (const prompt of this.state.prompts) if (prompt.awaited) prompt.cancelRequested = true;
    const { turn } = this.state;
    this.mark('cancel');
    if (!turn || turn.cancelRequested || turn.ended !== undefined) return;
    turn.cancelRequested = true;
    this.event({ type: 'cancel_requested', turnId: turn.id });
    if (turn.grace?.kind === 'barrier') this.await(turn, 'barrier');
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
      this.#received(this.find(turn.unclear), undefined);
      turn.busySeen = true;
    }
    if (!isIdle(report)) {
      if (turn?.idleIsDoubtful) turn.grace = undefined;
      const running = turn ?? this.start(hasWaiting(this.state) ? 'user' : 'agent', 'state', false);
      Object.assign(running, { busySeen: true, idle: undefined, idleIsDoubtful: false });
    } else if (turn?.ended !== undefined) {
      if (turn.endsBy === 'state') this.answered(turn, report.stopReason, report, 'state');
    } else if (turn && this.mayEnd(turn, report)) {
      if (turn.hasForeign) this.doubtIdle(turn, report);
      else this.idle(turn, report);
    } else if (turn) turn.idle = report;
  }

  /** A message of the user with an id: our prompt, a piece of it, or another client's message. */
  #message(event: UserMessageEvent): void {
    const { messageId } = event;
    if (this.state.undecided?.some((other) => other.messageId === messageId)) {
      this.state.undecided = [...this.state.undecided, event];
      return;
    }
    const open = this.state.prompts.filter(({ inserted, inTurn, echoed }) => !inserted || (inTurn && !echoed));
    const isKnown = this.state.userIds.includes(messageId);
    const prompt = isKnown ? open.find((one) => one.messageId === messageId) : promptOf(open, event);
    if (prompt) {
      this.decide(undefined);
      this.rememberUserId(messageId);
      this.#echoed(prompt, messageId);
    }
    if (prompt || isKnown) {
      this.event(event);
      return;
    }
    const mayBeOurs = ({ inTurn, inserted, endsBy }: Prompt): boolean => inTurn && !inserted && endsBy === 'state';
    if (open.some((one) => mayBeOurs(one) && one.messageId === undefined))
      this.state.undecided = [...(this.state.undecided ?? []), event];
    else this.foreign([event]);
  }

  /** The agent repeats a prompt: from here on it works on it. */
  #echoed(prompt: Prompt, messageId: string): void {
    const { turn } = this.state;
    this.mark('echo', prompt);
    prompt.echoed = true;
    if (prompt.inTurn && turn?.hasForeign) {
      // What ended before was the work on the other client's message.
      Object.assign(turn, { hasForeign: false, idle: undefined, idleIsDoubtful: false });
      if (turn.grace?.kind === 'idle') turn.grace = undefined;
    }
    if (prompt.inserted) return;
    prompt.messageId = messageId;
    const wasInTurn = prompt.inTurn;
    this.#insert(prompt);
    if (!wasInTurn || !turn) return;
    if (turn.unclear === prompt.handle) this.#received(prompt, undefined);
    else if (turn.idle) this.doubtIdle(turn, turn.idle);
  }

  #answer(handle: string, answer: PromptAnswer): void {
    const prompt = this.find(handle);
    const isTakenIn = isReceipt(answer, this.state.agentState !== undefined);
    this.markAnswer(isTakenIn ? 'receipt' : 'answer', handle);
    if (!prompt?.awaited) return; // its turn was closed already
    if (isTakenIn) {
      this.#received(prompt, answer.messageId);
      return;
    }
    if (!prompt.inTurn) this.#insert(prompt);
    const { turn } = this.state;
    const { stopReason, note: why } = answer;
    if (!turn) return;
    turn.promised = prompt.promised;
    if (stopReason === undefined && !turn.promised && turn.ended === undefined) {
      turn.unclear = handle;
      this.await(turn, 'unclear');
      return;
    }
    prompt.awaited = false;
    // Another prompt of the turn has its answer to come, and ends it.
    if (turn.ended === undefined && this.promptsInTurn().some(({ awaited }) => awaited)) return;
    this.answered(turn, stopReason, answer, 'response', why);
  }

  /** A receipt: the prompt was taken in. */
  #received(prompt: Prompt | undefined, messageId: string | undefined): void {
    if (!prompt) return;
    prompt.awaited = false;
    prompt.messageId ??= messageId ?? this.state.undecided?.[0]?.messageId;
    if (prompt.messageId !== undefined) this.rememberUserId(prompt.messageId);
    const isEchoed = this.state.undecided?.some((event) => event.messageId === prompt.messageId);
    const wasInTurn = prompt.inTurn;
    if (!prompt.inserted) this.#insert(prompt);
    this.decide(prompt.messageId);
    if (isEchoed) prompt.echoed = true;
    const { turn } = this.state;
    if (!wasInTurn || !turn) return;
    turn.endsBy = 'state';
    if (turn.unclear !== undefined) turn.grace = undefined;
    turn.unclear = undefined;
    if (!turn.idle || turn.ended !== undefined) return;
    // An agent whose answer trails the end of its turn.
    if (turn.busySeen && !turn.idleIsDoubtful && !turn.hasForeign) this.idle(turn, turn.idle);
    else this.doubtIdle(turn, turn.idle);
  }

  /** The turn before is over, whether the agent said so or not. One without output takes more messages in. */
  #past(): void {
    const { turn: before } = this.state;
    const isOver = before?.ended !== undefined || before?.hasOutput === true;
    if (before && isOver) this.settle(before);
    const turn = this.state.turn ?? this.start('user', 'state', false);
    turn.isPast = true;
    if (this.promptsInTurn().length > 0) return;
    const handle = `past-${++this.state.followers}`;
    const flags = { inTurn: true, awaited: false, inserted: true, echoed: true, cancelRequested: false };
    this.state.prompts.push({ handle, promptId: handle, endsBy: 'state', promised: false, ...flags });
  }

  /** The agent works on what it began before this connection. */
  #continues(): void {
    if (!this.state.turn) this.start('agent', 'state', false).isRejoined = true;
  }

  #update(isOutput: boolean): void {
    if (isOutput) this.decide(undefined);
    const { turn } = this.state;
    if (isOutput && turn && !turn.hasOutput) {
      turn.hasOutput = true;
      this.mark('output');
    }
    if (isOutput && turn) turn.hasForeignBarrier = false;
    const { grace } = turn ?? {};
    if (!turn || !grace || turn.ended !== undefined) return;
    if (isOutput && (grace.kind === 'barrier' || grace.kind === 'renumbered')) this.await(turn, 'barrier');
    else if (grace.until !== undefined)
      turn.grace = { ...grace, until: Math.min(this.at + grace.quietMs, grace.longest ?? Number.POSITIVE_INFINITY) };
  }

  #call(id: string, isOpen: boolean): void {
    const { turn } = this.state;
    if (!turn) return;
    const { endedCalls = [] } = turn;
    if (endedCalls.includes(id)) return; // "in progress" can arrive late
    const others = turn.calls?.filter((other) => other !== id) ?? [];
    turn.calls = isOpen ? [...others, id].slice(-MAX_CALLS) : others;
    if (!isOpen) turn.endedCalls = [...endedCalls, id].slice(-MAX_CALLS);
    if (turn.grace?.kind === 'barrier') this.await(turn, 'barrier');
  }

  #complete(barrier: TurnComplete): void {
    const { turn, cut } = this.state;
    const { promptRequestId: id } = barrier;
    if (!turn || (id !== undefined && this.state.pastIds.includes(id))) {
      this.markBarrier(id, this.state.pastIds.includes(id ?? '') ? 'doubled' : id === undefined ? 'late' : 'foreign');
      this.log.info(`turn_complete for prompt ${id ?? '(none)'}: no such turn runs, ignored`);
      return;
    }
    const ids = this.requestIds(); // an earlier window may not have kept them
    const names = turn.isRejoined || turn.isPast ? ids.length > 0 : this.promptsInTurn().length > 0;
    if (id !== undefined && names && !ids.includes(id)) {
      this.foreignBarrier(turn, id);
      return;
    }
    this.markBarrier(id, turn.barrierSeen ? 'doubled' : undefined);
    if (turn.barrierSeen) return;
    if (cut) {
      this.state.cut = { ...cut, complete: barrier };
      return;
    }
    this.barrier(turn, barrier);
  }

  /** The turn that began with the prompt is over; after a cancel an error is the cancel's. */
  #failed({ handle, error, withdrawn }: Extract<TurnFact, { type: 'failed' }>): void {
    const prompt = this.find(handle);
    this.markAnswer('answer', handle);
    if (!prompt?.awaited) return;
    prompt.awaited = false;
    this.decide(undefined);
    if (!prompt.inTurn) {
      this.#refused(prompt);
      return;
    }
    const { turn } = this.state;
    if (!turn) return;
    const isCancelled = turn.cancelRequested || withdrawn;
    const { ended } = turn;
    if (!isCancelled) this.event({ type: 'error', ...error, ...(ended !== undefined && { turnId: turn.id }) });
    if (this.promptsInTurn().length > 1) return; // the others go on
    if (ended === undefined) this.end(turn, withdrawn ? 'cancelled' : 'error', 'response', {});
    else if (!isCancelled) this.changeReason(turn, 'error', {});
    this.settle(turn);
  }

  /** No turn has taken the prompt in. */
  #refused({ handle, promptId, cancelRequested: asked }: Prompt): void {
    this.state.prompts = this.state.prompts.filter((other) => other.handle !== handle);
    this.effects.push({ type: 'done', handle, promptId, refused: { asked } });
  }

  /** Running turns end, and prompts that the agent had not accepted are lost to it. */
  #exited(note: LocalizableText, interrupted: boolean): void {
    this.decide(undefined);
    this.state.userIds = []; // another process may use them again
    this.#loseWaiting();
    if (this.state.agentState !== undefined) {
      this.event({ type: 'background', work: [] });
      this.setState('idle');
    }
    this.state.agentState = undefined;
    this.state.cut = undefined;
    this.state.renumbers = undefined;
    const { turn } = this.state;
    if (turn) {
      if (turn.ended === undefined) this.end(turn, 'error', 'exit', { note }, interrupted);
      this.settle(turn);
    }
    this.state.pastIds = []; // the next connection has ids of its own
  }

  #loseWaiting(): void {
    const waiting = this.state.prompts.filter(({ inTurn }) => !inTurn);
    this.state.prompts = this.promptsInTurn();
    for (const { handle, promptId } of waiting) this.effects.push({ type: 'done', handle, promptId });
  }

  /** Prompts that the agent has not taken in are lost to it; the open turn waits to be asked about. */
  #cut(): void {
    const { turn } = this.state;
    if (!turn || !mayBeCut(this.state)) return;
    this.decide(undefined);
    this.#loseWaiting();
    this.state.pastIds = [];
    Object.assign(turn, { grace: undefined, unclear: undefined, idle: undefined });
    this.state.cut ??= {};
  }

  #asking(): void {
    const { cut } = this.state;
    if (cut) this.state.cut = { ...cut, before: cut.state ?? cut.before, state: undefined };
  }

  /** The turn continues with the agent's word, is over with it, or is lost. */
  #asked({ status, hasArrived }: Extract<TurnFact, { type: 'asked' }>): void {
    const { turn, cut } = this.state;
    if (!turn || !cut) return;
    const fate = fateOf(cut, status, hasArrived);
    if (fate.kind === 'lost') {
      this.effects.push({ type: 'lost' });
      return;
    }
    this.state.cut = undefined;
    Object.assign(turn, { endsBy: 'state', isRejoined: true });
    // Their answers were for the connection that is gone.
    for (const prompt of this.promptsInTurn()) Object.assign(prompt, { inserted: true, awaited: false });
    if (fate.kind === 'complete') this.barrier(turn, fate.barrier);
    else if (fate.kind === 'runs') this.#state(fate.report);
    else if (fate.kind === 'ended') {
      turn.promised = false;
      this.setState(fate.report.state);
      this.idle(turn, fate.report);
    }
  }

  #watch(quietMs: number): void {
    const { turn } = this.state;
    if (turn && turn.ended === undefined) turn.grace = { kind: 'watch', quietMs, until: this.at + quietMs };
  }

  #noEnd(note: LocalizableText): void {
    const { turn } = this.state;
    if (!turn || turn.ended !== undefined) return;
    this.end(turn, 'unknown', 'timeout', { note });
    this.settle(turn);
  }

  /** From here on the prompt is part of its turn, of the one that runs, or of one that begins. */
  #insert(prompt: Prompt): void {
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
    this.effects.push({ type: 'inserted', handle, promptId, turnId: turn.id, messageId, begins: false });
  }
}

/** Returns whether a turn is open that an agent may continue on another connection. */
export function mayBeCut({ turn }: TurnState): boolean {
  return turn !== undefined && turn.ended === undefined && !turn.answered;
}
