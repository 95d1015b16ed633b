// Disposables: the creator of a resource disposes it.

export interface Disposable {
  dispose(): void;
}

export function toDisposable(run: () => void): Disposable {
  let isDisposed = false;
  return {
    dispose() {
      if (isDisposed) return;
      isDisposed = true;
      run();
    },
  };
}

/** Disposes its items in reverse order, also if some throw; the first error is thrown then. */
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

export abstract class Configured<Options> {
  protected readonly options: Options;

  constructor(options: Options) {
    this.options = options;
  }
}

/** A disposable that owns others. */
export abstract class Part<Options = void> extends Configured<Options> implements Disposable {
  readonly #owned = new DisposableStore();

  protected own<T extends Disposable>(item: T): T {
    return this.#owned.add(item);
  }

  protected get isDisposed(): boolean {
    return this.#owned.isDisposed;
  }

  dispose(): void {
    this.#owned.dispose();
  }
}
