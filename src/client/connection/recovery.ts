// Starts a conversation's agent again without being asked, and says when that stops: after a lost
// connection soon at first, then less often; after a crash a few times with growing pauses.
import type { Disposable } from '../../base/disposable';

/** Waiting times in milliseconds; about a minute and a half together. */
const RECONNECT_DELAYS_MS = [500, 1000, 2000, 4000, 8000, 15_000, 30_000, 30_000] as const;

/** Which attempt comes next, of how many. */
export interface Attempt {
  readonly attempt: number;
  readonly of: number;
}

/** A row of attempts, each after a longer wait; not all clients try at the same moment. */
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
   * @returns undefined where all are used up
   */
  next(run: () => void): Attempt | undefined {
    clearTimeout(this.#timer);
    const delay = this.#delays[this.#used];
    if (delay === undefined) return undefined;
    this.#used++;
    this.#timer = setTimeout(run, delay * (1 - Math.random() / 2));
    return { attempt: this.#used, of: this.of };
  }

  /** Drops the attempt that waits: the caller makes it now, or not at all. */
  skipWait(): void {
    clearTimeout(this.#timer);
  }

  /** The row is over; the next one begins from the start. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.#used = 0;
  }
}

/** Pauses before the first, second and third restart in a row, in milliseconds. */
const PAUSES_MS = [100, 1_000, 4_000] as const;
/**
 * An agent that lived longer than this has started well: its end begins a new row. In milliseconds.
 */
const LIVED_WELL_MS = 60_000;

type RestartStep =
  | { readonly kind: 'restart'; readonly attempt: number; readonly of: number; readonly afterMs: number }
  | { readonly kind: 'give-up'; readonly attempts: number };

/**
 * Counts the ends of one conversation's agents. Pure but for its count; times are milliseconds
 * since 1970.
 */
class RestartPolicy {
  #row = 0;
  #readyAt: number | undefined;

  /** The session could be used again. */
  ready(now: number): void {
    this.#readyAt = now;
  }

  /** The user started the agent: earlier ends do not count. */
  reset(): void {
    this.#row = 0;
  }

  /** The agent exited unexpectedly. */
  ended(now: number): RestartStep {
    if (this.#readyAt !== undefined && now - this.#readyAt >= LIVED_WELL_MS) this.#row = 0;
    this.#readyAt = undefined;
    const afterMs = PAUSES_MS[this.#row];
    if (afterMs === undefined) return { kind: 'give-up', attempts: this.#row };
    this.#row++;
    return { kind: 'restart', attempt: this.#row, of: PAUSES_MS.length, afterMs };
  }
}

/** Restarts and reconnects of one conversation. */
export class Recovery implements Disposable {
  readonly #start: () => void;
  readonly #now: () => number;
  readonly #reconnects: Backoff;
  readonly #restarts = new RestartPolicy();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReconnecting = false;
  /** When the session could be used last. */
  #readyAt: number | undefined;

  /**
   * @param start starts the agent
   * @param now ms since 1970
   * @param delaysMs the waits before each attempt to connect
   */
  constructor(start: () => void, now: () => number, delaysMs?: readonly number[]) {
    this.#start = start;
    this.#now = now;
    this.#reconnects = new Backoff(delaysMs);
  }

  /** The connection was lost and no attempt has succeeded yet. */
  get isReconnecting(): boolean {
    return this.#isReconnecting;
  }

  /**
   * Connects again after a while. A server that drops each connection is tried no more often than one
   * that takes none: only a connection that lasts, or brings something, begins a new row.
   * @returns undefined where it was tried often enough
   */
  reconnect(): Attempt | undefined {
    if (this.#readyAt !== undefined && this.#now() - this.#readyAt >= LIVED_WELL_MS) this.#reconnects.dispose();
    this.#readyAt = undefined;
    const attempt = this.#reconnects.next(this.#start);
    this.#isReconnecting = attempt !== undefined;
    return attempt;
  }

  /** How often it is tried to connect again, in a row. */
  get mostReconnects(): number {
    return this.#reconnects.of;
  }

  /** The agent said something new. */
  progressed(): void {
    if (!this.#isReconnecting) this.#reconnects.dispose();
  }

  /** Starts an agent that exited again after a while, unless it has exited too often. */
  restart(): RestartStep {
    const step = this.#restarts.ended(this.#now());
    if (step.kind === 'restart') this.#timer = setTimeout(this.#start, step.afterMs);
    return step;
  }

  /** A start begins: none is waited for. */
  starting(): void {
    this.#reconnects.skipWait();
    clearTimeout(this.#timer);
  }

  /** The session can be used. */
  ready(): void {
    this.starting();
    this.#isReconnecting = false;
    this.#readyAt = this.#now();
    this.#restarts.ready(this.#readyAt);
  }

  /** Gives up what waits; the next row of attempts begins from the start. */
  stop(): void {
    this.#isReconnecting = false;
    this.#reconnects.dispose();
    clearTimeout(this.#timer);
  }

  /** The user started or ended the agent: earlier exits and losses do not count. */
  reset(): void {
    this.stop();
    this.#restarts.reset();
  }

  dispose(): void {
    this.stop();
  }
}
