// Typed events of one kind each, in the shape of VS Code's own (`onDidX(listener) → Disposable`).
import { type Disposable, toDisposable } from './disposable';

/** Subscribes a listener; dispose the result to stop listening. */
export type Event<T> = (listener: (value: T) => void) => Disposable;

/** The sending side of an {@link Event}. A listener that throws is reported to `onError` and does not keep the others from hearing. */
export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<(value: T) => void>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void = rethrowLater) {
    this.#onError = onError;
  }

  readonly event: Event<T> = (listener) => {
    const own = (value: T): void => listener(value);
    this.#listeners.add(own);
    return toDisposable(() => this.#listeners.delete(own));
  };

  fire(value: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(value);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  dispose(): void {
    this.#listeners.clear();
  }
}

function rethrowLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
