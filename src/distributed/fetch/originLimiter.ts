// Limits concurrent requests: in all, and to one origin. A slow server delays only its own
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
  readonly #waiting = new Map<string, Waiting[]>();
  #total = 0;
  #jobs = 0;

  constructor(maxTotal: number, maxPerOrigin: number) {
    this.#maxTotal = maxTotal;
    this.#maxPerOrigin = maxPerOrigin;
  }

  async run<T>(origin: string, job: () => Promise<T>): Promise<T> {
    if (!this.#hasRoom(origin)) {
      await new Promise<void>((resolve) => this.#wait(origin, resolve));
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

  #wait(origin: string, start: () => void): void {
    const waiting = { number: ++this.#jobs, start };
    const queue = this.#waiting.get(origin);
    if (queue) queue.push(waiting);
    else this.#waiting.set(origin, [waiting]);
  }

  #startNext(): void {
    for (let origin = this.#nextOrigin(); origin !== undefined; origin = this.#nextOrigin()) {
      const queue = this.#waiting.get(origin);
      const next = queue?.shift();
      if (queue?.length === 0) this.#waiting.delete(origin);
      // Counted here, not when it runs, or two would take the same room.
      this.#count(origin, 1);
      next?.start();
    }
  }

  #nextOrigin(): string | undefined {
    if (this.#total >= this.#maxTotal) return undefined;
    let found: { readonly origin: string; readonly number: number } | undefined;
    for (const [origin, [first]] of this.#waiting) {
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

const ENOUGH = 4;
const SILENT: ReadonlySet<GapReason> = new Set(['timeout', 'refused', 'no-such-host']);
const UNANSWERED: ReadonlySet<GapReason> = new Set([...SILENT, 'connection-lost']);

export class OriginHealth {
  readonly #failures = new Map<string, { readonly count: number; readonly reason: GapReason }>();

  /** @throws ResourceFailure for a dead server, with the reason of its failures */
  check(origin: string): void {
    const failures = this.#failures.get(origin);
    if (failures && failures.count >= ENOUGH && SILENT.has(failures.reason)) throw new ResourceFailure(failures.reason);
  }

  /** Returns whether the last requests all failed without an answer: waiting helps no more. */
  keepsFailing(origin: string): boolean {
    return (this.#failures.get(origin)?.count ?? 0) >= ENOUGH;
  }

  /** @param reason undefined: the server answered */
  note(origin: string, reason: GapReason | undefined): void {
    if (reason === undefined || !UNANSWERED.has(reason)) this.#failures.delete(origin);
    else this.#failures.set(origin, { count: (this.#failures.get(origin)?.count ?? 0) + 1, reason });
  }
}
