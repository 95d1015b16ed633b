// Typed events in the style of VS Code (`onDidX(listener) → Disposable`).
import { type Disposable, toDisposable } from './disposable';

export type Event<T> = (listener: (value: T) => void) => Disposable;

/** If a listener throws, the error goes to `onError` and the others are still called. */
export class Emitter<T> implements Disposable {
  /** Replaced when it changes, so that {@link fire} needs no copy. */
  #listeners: readonly ((value: T) => void)[] = [];
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void = rethrowLater) {
    this.#onError = onError;
  }

  readonly event: Event<T> = (listener) => {
    const own = (value: T): void => listener(value);
    this.#listeners = [...this.#listeners, own];
    return toDisposable(() => {
      this.#listeners = this.#listeners.filter((one) => one !== own);
    });
  };

  fire(value: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(value);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  dispose(): void {
    this.#listeners = [];
  }
}

function rethrowLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
