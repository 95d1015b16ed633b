// Time that passes only when a test says so: hours of an agent's silence take no time, and each
// timer goes off alone, at its own moment.

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

const IDLE_TURNS = 2;
const MAX_STEPS = 20_000;

const real = { setTimeout, clearTimeout, setImmediate };

export class VirtualTime {
  now: number;
  readonly #timers = new Map<number, Timer>();
  #count = 0;
  #immediates = 0;

  /** @param now ms since 1970 */
  constructor(now: number) {
    this.now = now;
  }

  async run<T>(inTime: () => Promise<T>): Promise<T> {
    const patched = {
      setTimeout: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => this.#add(() => run(...args), ms),
      clearTimeout: (timer: unknown) => {
        if (timer instanceof VirtualTimer) this.#timers.delete(timer.id);
        else real.clearTimeout(timer as NodeJS.Timeout);
      },
      setImmediate: (run: (...args: unknown[]) => void, ...args: unknown[]) => {
        this.#immediates += 1;
        return real.setImmediate(() => {
          this.#immediates -= 1;
          run(...args);
        });
      },
    };
    Object.assign(globalThis, patched);
    try {
      return await inTime();
    } finally {
      Object.assign(globalThis, real);
    }
  }

  async settle(): Promise<void> {
    for (let idle = 0; idle < IDLE_TURNS; idle = this.#immediates === 0 ? idle + 1 : 0) await turn();
  }

  /** Resolves when something holds. */
  async until(holds: () => boolean, stepMs = 0): Promise<void> {
    for (let steps = 0; !holds(); ) {
      if (isReading()) await new Promise((resolve) => real.setTimeout(resolve, 1));
      else if (++steps > MAX_STEPS) throw new Error('it never comes');
      else await this.pass(stepMs);
    }
  }

  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    for (;;) {
      await this.settle();
      const next = [...this.#timers].sort(([, a], [, b]) => a.at - b.at || a.order - b.order)[0];
      if (!next || next[1].at > until) break;
      this.#timers.delete(next[0]);
      this.now = Math.max(this.now, next[1].at);
      next[1].run();
    }
    this.now = until;
  }

  #add(run: () => void, ms: number): VirtualTimer {
    const id = ++this.#count;
    this.#timers.set(id, { at: this.now + Math.max(1, ms), order: id, run });
    return new VirtualTimer(id);
  }
}

class VirtualTimer {
  readonly id: number;

  constructor(id: number) {
    this.id = id;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

function isReading(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
}

function turn(): Promise<void> {
  return new Promise((resolve) => real.setImmediate(resolve));
}
