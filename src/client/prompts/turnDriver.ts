// Drives the turn engine in real time: adds times to inputs, performs the effects and sets timers.
import type { Deferred } from '../../base/deferred';
import type { Disposable } from '../../base/disposable';
import type { Log } from '../../base/log';
import type { ContentBlock } from '../../session/events/content';
import type { SessionEvent, StopReason } from '../../session/events/event';
import { later, type Schedule } from '../ports/grace';
import { dueAt, reduce } from '../turns/engine';
import type { Graces } from '../turns/turnState';
import {
  isAwaited,
  type TurnEffect,
  type TurnFact,
  type TurnMark,
  type TurnResult,
  type TurnState,
} from '../turns/turnState';

export interface SentPrompt {
  readonly content: readonly ContentBlock[];
  readonly echo?: string;
  /** Undefined: no turn took it in. */
  readonly done: Deferred<TurnResult | undefined>;
}

export interface TurnDriverOptions<Sent extends SentPrompt> {
  readonly graces: Graces;
  readonly schedule?: Schedule | undefined;
  /** Ms since 1970. */
  readonly now: () => number;
  readonly log: Log;
  readonly apply: (event: SessionEvent) => void;
  readonly onInserted: (promptId: string) => void;
  readonly onSettled: (stopReason: StopReason, prompts: readonly Sent[]) => void;
  /** No turn took the prompt in, and the agent has not refused it. */
  readonly onLost?: (prompt: Sent) => void;
  readonly onMark?: (mark: TurnMark) => void;
}

/** A later timer means that the machine slept or its clock was set: the wait begins again. */
const OVERSLEPT_MS = 1000;

export class TurnDriver<Sent extends SentPrompt = SentPrompt> implements Disposable {
  readonly #options: TurnDriverOptions<Sent>;
  readonly #sent = new Map<string, Sent>();
  #state: TurnState;
  #timer: { readonly at: number; readonly disposable: Disposable } | undefined;
  #onQuiet: () => void = () => undefined;
  #isDisposed = false;

  constructor(state: TurnState, options: TurnDriverOptions<Sent>) {
    this.#state = state;
    this.#options = options;
  }

  get state(): TurnState {
    return this.#state;
  }

  /** JSON-RPC ids of prompts without an answer yet, by prompt. */
  get requestIds(): ReadonlyMap<string, string> {
    const { prompts, turn } = this.#state;
    return new Map(
      prompts.flatMap((prompt) =>
        prompt.requestId !== undefined && isAwaited(prompt, turn) ? [[prompt.promptId, prompt.requestId]] : [],
      ),
    );
  }

  restore(state: TurnState, sentOf: (promptId: string) => Sent | undefined): void {
    this.#state = state;
    for (const { handle, promptId } of state.prompts) {
      const prompt = sentOf(promptId);
      if (prompt) this.#sent.set(handle, prompt);
    }
  }

  resume(): void {
    this.feed({ type: 'resumed' });
  }

  /** @returns the prompt's handle */
  prompt(prompt: Sent, terms: Omit<Extract<TurnFact, { type: 'prompt' }>, 'type' | 'handle'>): string {
    const handle = `p${this.#state.followers + 1}`;
    this.#sent.set(handle, prompt);
    this.feed({ type: 'prompt', handle, ...terms });
    return handle;
  }

  replaceText(handle: string, text: string): void {
    const prompt = this.#sent.get(handle);
    if (prompt) this.#sent.set(handle, { ...prompt, echo: text });
    this.feed({ type: 'text', handle, text });
  }

  /** Calls `run` after `quietMs` without an update in the open turn. */
  whenQuiet(quietMs: number, run: () => void): void {
    this.#onQuiet = run;
    this.feed({ type: 'watch', quietMs });
  }

  readonly feed = (fact: TurnFact, at = this.#options.now()): readonly TurnEffect[] => {
    const due = dueAt(this.#state);
    if (due !== undefined && at - due > OVERSLEPT_MS && fact.type !== 'resumed') this.resume();
    const [state, effects] = reduce(this.#state, { ...fact, at }, this.#options.graces);
    if (state === this.#state) return effects;
    this.#state = state;
    this.#setTimer();
    const ended: Sent[] = [];
    let settled: StopReason | undefined;
    for (const effect of effects) {
      if (effect.type === 'settled') settled = effect.stopReason;
      else this.#perform(effect, ended);
    }
    if (settled !== undefined) this.#options.onSettled(settled, ended);
    return effects;
  };

  /** @param ended collects the prompts of the ended turn */
  #perform(effect: TurnEffect, ended: Sent[]): void {
    const { apply, log, onInserted, onMark } = this.#options;
    switch (effect.type) {
      case 'event':
        apply(effect.event);
        return;
      case 'inserted': {
        const { handle, promptId, turnId, messageId } = effect;
        const { content = [], echo } = this.#sent.get(handle) ?? {};
        const details = { messageId, echo };
        apply({ type: 'prompt_sent', turnId, promptId, content, ...details });
        onInserted(promptId);
        return;
      }
      case 'done': {
        const { handle, result, refused } = effect;
        const prompt = this.#sent.get(handle);
        this.#sent.delete(handle);
        if (prompt && result) ended.push(prompt);
        else if (prompt && !refused) this.#options.onLost?.(prompt);
        prompt?.done.resolve(result);
        return;
      }
      case 'quiet':
        this.#onQuiet();
        return;
      case 'mark':
        onMark?.(effect.mark);
        return;
      case 'log':
        log[effect.level](effect.text);
    }
  }

  /** A timer that fires too early, as the wait was extended, is set again. */
  #setTimer(): void {
    const due = dueAt(this.#state);
    if (due !== undefined && this.#timer && this.#timer.at <= due) return;
    this.#timer?.disposable.dispose();
    this.#timer = undefined;
    if (due === undefined || this.#isDisposed) return;
    const { schedule = later, now } = this.#options;
    const onTimer = (): void => {
      this.#timer = undefined;
      this.feed({ type: 'tick' }, Math.max(now(), due));
      this.#setTimer();
    };
    this.#timer = { at: due, disposable: schedule(onTimer, Math.max(0, due - now())) };
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.disposable.dispose();
    this.#timer = undefined;
  }
}
