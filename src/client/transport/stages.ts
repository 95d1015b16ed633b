// The stages of a start, each with a deadline, so that a start that hangs or fails says where.

import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { StageName, StageView } from '../../panel/contract';

/** In milliseconds. */
export interface Deadlines {
  readonly resolve: number;
  readonly spawn: number;
  readonly connect: number;
  readonly initialize: number;
  readonly 'sign-in': number;
  readonly session: number;
  readonly ready: number;
}

/**
 * A sign-in in a browser may take a while.
 * @param startMs the user's setting for the slow steps
 */
export function deadlinesFor(startMs: number): Deadlines {
  return {
    resolve: 15_000,
    spawn: 15_000,
    connect: 30_000,
    initialize: startMs,
    'sign-in': 600_000,
    session: startMs,
    ready: 10_000,
  };
}

export class StageTimeout extends ParleyError {
  constructor(step: string, ms: number) {
    super('stage-timeout', localizable('no response to {0} within {1} s', step, Math.round(ms / 1000)));
  }
}

export class Stages {
  readonly #stages: StageView[] = [];
  readonly #now: () => number;
  readonly #onChange: () => void;

  constructor(now: () => number, onChange: () => void) {
    this.#now = now;
    this.#onChange = onChange;
  }

  get view(): readonly StageView[] {
    return this.#stages;
  }

  get current(): StageView | undefined {
    return this.#stages.at(-1);
  }

  reset(): void {
    this.#stages.length = 0;
    this.#onChange();
  }

  /**
   * @param run its signal is aborted when the step is given up
   * @throws StageTimeout, `signal`'s reason, or what `run` throws
   */
  async run<T>(name: StageName, ms: number, signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.current?.name === name) this.#stages.pop(); // it was waited for, or is tried again
    const startedAt = this.#now();
    const index = this.#stages.push({ name, state: 'running', startedAt }) - 1;
    const giveUp = new AbortController();
    const given = new Promise<never>((_, reject) => {
      giveUp.signal.addEventListener('abort', () => reject(giveUp.signal.reason), { once: true });
    });
    const timer = setTimeout(() => giveUp.abort(new StageTimeout(name, ms)), ms);
    const forward = (): void => giveUp.abort(signal.reason);
    signal.addEventListener('abort', forward, { once: true });
    this.#onChange(); // who hears of it may stop it
    const settle = (state: 'done' | 'failed'): void => {
      this.#stages[index] = { name, state, startedAt, endedAt: this.#now() };
      this.#onChange();
    };
    try {
      const result = await Promise.race([run(giveUp.signal), given]);
      settle('done');
      return result;
    } catch (error) {
      settle('failed');
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', forward);
      given.catch(() => {});
    }
  }

  /** The step before was not to blame: this one must come first, and waits for the user. */
  awaitUser(name: StageName): void {
    this.#stages.pop();
    this.#stages.push({ name, state: 'running', startedAt: this.#now() });
    this.#onChange();
  }

  skip(name: StageName): void {
    const now = this.#now();
    this.#stages.push({ name, state: 'skipped', startedAt: now, endedAt: now });
    this.#onChange();
  }
}
