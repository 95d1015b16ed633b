// The stages of a start, each with a deadline, so that a hanging or failed start names the stage.

import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { StageName, StageView } from '../../panel/contract';

/** Other stages have the user's limit. A sign-in in a browser may take a while. */
const LIMITS: Partial<Record<StageName, number>> = {
  resolve: 15_000,
  spawn: 15_000,
  connect: 30_000,
  'sign-in': 600_000,
  ready: 10_000,
};

export class StageTimeout extends ParleyError {
  readonly ms: number;

  constructor(step: string, ms: number) {
    super('stage-timeout', localizable('no response to {0} within {1} s', step, Math.round(ms / 1000)));
    this.ms = ms;
  }
}

export class Stages {
  readonly #stages: StageView[] = [];
  readonly #now: () => number;
  readonly #startMs: () => number;
  readonly #onChange: () => void;

  /** @param startMs the user's limit for the slow stages */
  constructor(now: () => number, startMs: () => number, onChange: () => void = () => {}) {
    this.#now = now;
    this.#startMs = startMs;
    this.#onChange = onChange;
  }

  get view(): readonly StageView[] {
    return this.#stages;
  }

  get current(): StageView | undefined {
    return this.#stages.at(-1);
  }

  limitOf(name: StageName): number {
    return LIMITS[name] ?? this.#startMs();
  }

  reset(): void {
    this.#stages.length = 0;
    this.#onChange();
  }

  /**
   * @param run its signal is aborted when the stage is given up
   * @param limit the stage whose limit applies
   * @throws StageTimeout, `signal`'s reason, or what `run` throws
   */
  async run<T>(
    name: StageName,
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<T>,
    limit = name,
  ): Promise<T> {
    signal.throwIfAborted();
    const ms = this.limitOf(limit);
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
    this.#onChange(); // listeners may stop it
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

  /** Replaces the current stage with one that waits for the user. */
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
