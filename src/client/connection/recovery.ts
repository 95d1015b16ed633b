// Restarts or reconnects an agent automatically, with growing delays and a limit.
import type { Disposable } from '../../base/disposable';

/** About a minute and a half in total. */
const RECONNECT_DELAYS_MS: readonly number[] = [500, 1000, 2000, 4000, 8000, 15_000, 30_000, 30_000];
const PAUSES_MS: readonly number[] = [100, 1_000, 4_000];
/** An exit after this lifetime starts a new series. */
const LIVED_WELL_MS = 60_000;

export interface Attempt {
  readonly attempt: number;
  readonly of: number;
}

export class Recovery implements Disposable {
  readonly #start: () => void;
  readonly #now: () => number;
  readonly #delays: readonly number[];
  #reconnects = 0;
  #restarts = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReconnecting = false;
  #readyAt: number | undefined;

  /**
   * @param now ms since 1970
   * @param delaysMs before each attempt to connect
   */
  constructor(start: () => void, now: () => number, delaysMs = RECONNECT_DELAYS_MS) {
    this.#start = start;
    this.#now = now;
    this.#delays = delaysMs;
  }

  get isReconnecting(): boolean {
    return this.#isReconnecting;
  }

  /**
   * Reconnects after a delay, shortened by up to a half at random. Only a connection that lasts or
   * delivers something resets the attempts.
   * @returns undefined after too many
   */
  reconnect(): Attempt | undefined {
    if (this.#livedWell()) this.#reconnects = 0;
    const attempt = this.#next(this.#delays, this.#reconnects, 1 - Math.random() / 2);
    if (attempt) this.#reconnects++;
    this.#isReconnecting = attempt !== undefined;
    return attempt;
  }

  /** Restarts after a delay. @returns undefined after too many crashes */
  restart(): Attempt | undefined {
    if (this.#livedWell()) this.#restarts = 0;
    const attempt = this.#next(PAUSES_MS, this.#restarts);
    if (attempt) this.#restarts++;
    return attempt;
  }

  #livedWell(): boolean {
    const readyAt = this.#readyAt;
    this.#readyAt = undefined;
    return readyAt !== undefined && this.#now() - readyAt >= LIVED_WELL_MS;
  }

  #next(delays: readonly number[], used: number, part = 1): Attempt | undefined {
    clearTimeout(this.#timer);
    const delay = delays[used];
    if (delay === undefined) return undefined;
    this.#timer = setTimeout(this.#start, delay * part);
    return { attempt: used + 1, of: delays.length };
  }

  get mostReconnects(): number {
    return this.#delays.length;
  }

  get mostRestarts(): number {
    return PAUSES_MS.length;
  }

  progressed(): void {
    if (!this.#isReconnecting) this.#reconnects = 0;
  }

  starting(): void {
    clearTimeout(this.#timer);
  }

  ready(): void {
    this.starting();
    this.#isReconnecting = false;
    this.#readyAt = this.#now();
  }

  stop(): void {
    this.starting();
    this.#isReconnecting = false;
    this.#reconnects = 0;
  }

  /** Forgets earlier failures: the user has started or ended the agent. */
  reset(): void {
    this.stop();
    this.#restarts = 0;
  }

  dispose(): void {
    this.stop();
  }
}
