/** A promise settled from outside. Only the first call settles it. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  #resolve!: (value: T) => void;
  #reject!: (reason: unknown) => void;
  #settled = false;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get isSettled(): boolean {
    return this.#settled;
  }

  resolve(value: T): void {
    this.#settled = true;
    this.#resolve(value);
  }

  reject(reason: unknown): void {
    this.#settled = true;
    this.#reject(reason);
  }
}
