// Lifetimes: whoever creates something owns its end.

/** Something that holds a resource until it is disposed; disposing twice is harmless. */
export interface Disposable {
  dispose(): void;
}

/** Wraps `run` so that it runs once, on the first `dispose()`. */
export function toDisposable(run: () => void): Disposable {
  let done = false;
  return {
    dispose() {
      if (done) return;
      done = true;
      run();
    },
  };
}

/**
 * Owns many disposables and ends them in the reverse order of their creation. Adding to a disposed store disposes at once.
 * One whose end fails does not keep the others from theirs: the first failure is thrown when all have ended.
 */
export class DisposableStore implements Disposable {
  readonly #items: Disposable[] = [];
  #disposed = false;

  get isDisposed(): boolean {
    return this.#disposed;
  }

  add<T extends Disposable>(item: T): T {
    if (this.#disposed) item.dispose();
    else this.#items.push(item);
    return item;
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    const failures: unknown[] = [];
    for (let item = this.#items.pop(); item; item = this.#items.pop()) {
      try {
        item.dispose();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
