// Throttles notifications about sessions, which change hundreds of times a second while streaming.
import type { Disposable } from '../../base/disposable';
import { Pace } from '../../base/pace';

const INTERVAL_MS = 100;

export class ChangeThrottle implements Disposable {
  readonly #notify: (key: string) => void;
  readonly #pace = new Pace();
  readonly #notifiedAt = new Map<string, number>();
  readonly #timers = new Map<string, NodeJS.Timeout | NodeJS.Immediate>();

  constructor(notify: (key: string) => void) {
    this.#notify = notify;
  }

  changed(key: string): void {
    if (this.#timers.has(key)) return;
    const wait = (this.#notifiedAt.get(key) ?? Number.NEGATIVE_INFINITY) + INTERVAL_MS - performance.now();
    const run = (): void => this.#pace.run(() => this.#fire(key));
    this.#timers.set(key, wait > 0 ? setTimeout(run, wait) : setImmediate(run));
  }

  forget(key: string): void {
    this.#clear(key);
    this.#notifiedAt.delete(key);
  }

  dispose(): void {
    for (const key of [...this.#timers.keys()]) this.#clear(key);
  }

  #fire(key: string): void {
    if (!this.#timers.delete(key)) return;
    this.#notifiedAt.set(key, performance.now());
    this.#notify(key);
  }

  #clear(key: string): void {
    const timer = this.#timers.get(key);
    clearTimeout(timer as NodeJS.Timeout);
    clearImmediate(timer as NodeJS.Immediate);
    this.#timers.delete(key);
  }
}
