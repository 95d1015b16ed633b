// Starts a conversation's agent again without being asked, and says when that stops: after a lost
// connection soon at first, then less often; after a crash a few times with growing pauses.
import type { Disposable } from '../../base/disposable';

/** In milliseconds; about a minute and a half together. */
const RECONNECT_DELAYS_MS = [500, 1000, 2000, 4000, 8000, 15_000, 30_000, 30_000] as const;

export interface Attempt {
  readonly attempt: number;
  readonly of: number;
}

/** Attempts with growing, randomized waits. */
class Backoff implements Disposable {
  readonly #delays: readonly number[];
  #used = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(delays: readonly number[] = RECONNECT_DELAYS_MS) {
    this.#delays = delays;
  }

  get of(): number {
    return this.#delays.length;
  }

  /**
   * Runs the next attempt after its wait, shortened by up to a half at random.
   * @returns undefined if none is left
   */
  next(run: () => void): Attempt | undefined {
    clearTimeout(this.#timer);
    const delay = this.#delays[this.#used];
    if (delay === undefined) return undefined;
    this.#used++;
    this.#timer = setTimeout(run, delay * (1 - Math.random() / 2));
    return { attempt: this.#used, of: this.of };
  }

  skipWait(): void {
    clearTimeout(this.#timer);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#used = 0;
  }
}

/** Before the first, second and third restart, in milliseconds. */
const PAUSES_MS = [100, 1_000, 4_000] as const;
/** After this lifetime an exit begins a new series, in milliseconds. */
const LIVED_WELL_MS = 60_000;

type RestartStep =
  | { readonly kind: 'restart'; readonly attempt: number; readonly of: number; readonly afterMs: number }
  | { readonly kind: 'give-up'; readonly attempts: number };

/** Times are milliseconds since 1970. */
class RestartPolicy {
  #row = 0;
  #readyAt: number | undefined;

  ready(now: number): void {
    this.#readyAt = now;
  }

  reset(): void {
    this.#row = 0;
  }

  ended(now: number): RestartStep {
    if (this.#readyAt !== undefined && now - this.#readyAt >= LIVED_WELL_MS) this.#row = 0;
    this.#readyAt = undefined;
    const afterMs = PAUSES_MS[this.#row];
    if (afterMs === undefined) return { kind: 'give-up', attempts: this.#row };
    this.#row++;
    return { kind: 'restart', attempt: this.#row, of: PAUSES_MS.length, afterMs };
  }
}

export class Recovery implements Disposable {
  readonly #start: () => void;
  readonly #now: () => number;
  readonly #reconnects: Backoff;
  readonly #restarts = new RestartPolicy();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReconnecting = false;
  #readyAt: number | undefined;

  /**
   * @param now ms since 1970
   * @param delaysMs waits before each attempt to connect
   */
  constructor(start: () => void, now: () => number, delaysMs?: readonly number[]) {
    this.#start = start;
    this.#now = now;
    this.#reconnects = new Backoff(delaysMs);
  }

  get isReconnecting(): boolean {
    return this.#isReconnecting;
  }

  /**
   * Reconnects after a while. Only a connection that lasts, or brings something, resets the
   * attempts.
   * @returns undefined after too many
   */
  reconnect(): Attempt | undefined {
    if (this.#readyAt !== undefined && this.#now() - this.#readyAt >= LIVED_WELL_MS) this.#reconnects.dispose();
    this.#readyAt = undefined;
    const attempt = this.#reconnects.next(this.#start);
    this.#isReconnecting = attempt !== undefined;
    return attempt;
  }

  get mostReconnects(): number {
    return this.#reconnects.of;
  }

  progressed(): void {
    if (!this.#isReconnecting) this.#reconnects.dispose();
  }

  restart(): RestartStep {
    const step = this.#restarts.ended(this.#now());
    if (step.kind === 'restart') this.#timer = setTimeout(this.#start, step.afterMs);
    return step;
  }

  starting(): void {
    this.#reconnects.skipWait();
    clearTimeout(this.#timer);
  }

  ready(): void {
    this.starting();
    this.#isReconnecting = false;
    this.#readyAt = this.#now();
    this.#restarts.ready(this.#readyAt);
  }

  stop(): void {
    this.#isReconnecting = false;
    this.#reconnects.dispose();
    clearTimeout(this.#timer);
  }

  /** The user started or ended the agent: earlier failures don't count. */
  reset(): void {
    this.stop();
    this.#restarts.reset();
  }

  dispose(): void {
    this.stop();
  }
}
