// Limits concurrent requests in total and per origin, so that a slow server delays only its own
// requests.
import { type GapReason, ResourceFailure } from '../model/gap';

interface Waiting {
  readonly number: number;
  readonly start: () => void;
}

export class OriginLimiter {
  readonly #maxTotal: number;
  readonly #maxPerOrigin: number;
  readonly #running = new Map<string, number>();
  readonly #queues = new Map<string, Waiting[]>();
  #total = 0;
  #jobs = 0;

  constructor(maxTotal: number, maxPerOrigin: number) {
    this.#maxTotal = maxTotal;
    this.#maxPerOrigin = maxPerOrigin;
  }

  async run<T>(origin: string, job: () => Promise<T>): Promise<T> {
    if (!this.#hasRoom(origin)) {
      await new Promise<void>((resolve) => this.#enqueue(origin, resolve));
    } else this.#count(origin, 1);
    try {
      return await job();
    } finally {
      this.#count(origin, -1);
      this.#startNext();
    }
  }

  #hasRoom(origin: string): boolean {
    return this.#total < this.#maxTotal && (this.#running.get(origin) ?? 0) < this.#maxPerOrigin;
  }

  #enqueue(origin: string, start: () => void): void {
    const waiting = { number: ++this.#jobs, start };
    const queue = this.#queues.get(origin);
    if (queue) queue.push(waiting);
    else this.#queues.set(origin, [waiting]);
  }

  #startNext(): void {
    for (let origin = this.#nextOrigin(); origin !== undefined; origin = this.#nextOrigin()) {
      const queue = this.#queues.get(origin);
      const next = queue?.shift();
      if (queue?.length === 0) this.#queues.delete(origin);
      // Counted here, not when it runs, or two would take the same slot.
      this.#count(origin, 1);
      next?.start();
    }
  }

  #nextOrigin(): string | undefined {
    if (this.#total >= this.#maxTotal) return undefined;
    let found: { readonly origin: string; readonly number: number } | undefined;
    for (const [origin, [first]] of this.#queues) {
      if (!first || !this.#hasRoom(origin) || (found && found.number < first.number)) continue;
      found = { origin, number: first.number };
    }
    return found?.origin;
  }

  #count(origin: string, by: number): void {
    this.#total += by;
    const left = (this.#running.get(origin) ?? 0) + by;
    if (left === 0) this.#running.delete(origin);
    else this.#running.set(origin, left);
  }
}

const MAX_FAILURES = 4;
const UNREACHABLE: ReadonlySet<GapReason> = new Set(['timeout', 'refused', 'no-such-host']);
const NO_RESPONSE: ReadonlySet<GapReason> = new Set([...UNREACHABLE, 'connection-lost']);

export class OriginHealth {
  readonly #failures = new Map<string, { readonly count: number; readonly reason: GapReason }>();

  /** @throws ResourceFailure for a dead server, with the reason of its failures */
  check(origin: string): void {
    const failures = this.#failures.get(origin);
    if (failures && failures.count >= MAX_FAILURES && UNREACHABLE.has(failures.reason))
      throw new ResourceFailure(failures.reason);
  }

  /** Whether the last requests all failed without a response, so that waiting won't help. */
  keepsFailing(origin: string): boolean {
    return (this.#failures.get(origin)?.count ?? 0) >= MAX_FAILURES;
  }

  /** @param reason undefined: the server responded */
  note(origin: string, reason: GapReason | undefined): void {
    if (reason === undefined || !NO_RESPONSE.has(reason)) this.#failures.delete(origin);
    else this.#failures.set(origin, { count: (this.#failures.get(origin)?.count ?? 0) + 1, reason });
  }
}
