// Stores what the user typed, by session, until the host has it: in local storage, which is
// synchronous and survives a crash of the extension host, and in VS Code's webview state in case
// there is no local storage.
import { saveUiState, uiState } from './host';

export type Stored = Readonly<Record<string, unknown>>;

interface StoreOptions<T> {
  readonly name: string;
  /** Maximum number of sessions; the least recently written one is evicted. */
  readonly maxSessions: number;
  /** Too large for the webview state, which VS Code copies on each change. */
  readonly isLarge?: boolean;
  /** Validates a stored value, which may come from another version. */
  read(value: Stored): T | undefined;
}

export class SessionStore<T extends object> {
  readonly #options: StoreOptions<T>;
  readonly #prefix: string;

  constructor(options: StoreOptions<T>) {
    this.#options = options;
    this.#prefix = `parley.${options.name}.`;
  }

  /**
   * Returns the copies of a session's value. The one in local storage, which other pages write too,
   * is last.
   */
  copies(session: string): readonly T[] {
    const name = this.#prefix + session;
    const found = [uiState().kept?.[name], use((storage) => parse(storage.getItem(name))?.value)];
    return found.flatMap((value) => (isRecord(value) && this.#options.read(value)) || []);
  }

  sessions(): readonly string[] {
    return (use((storage) => this.#names(storage)) ?? []).map((name) => name.slice(this.#prefix.length));
  }

  set(session: string, value?: T): void {
    const name = this.#prefix + session;
    const { maxSessions, isLarge } = this.#options;
    const { [name]: old, ...others }: Record<string, object> = uiState().kept ?? {};
    if (value && !isLarge) {
      const [oldest, ...names] = this.#names(others);
      if (oldest !== undefined && names.length + 1 >= maxSessions) delete others[oldest];
      saveUiState({ kept: { ...others, [name]: value } });
    } else if (old) saveUiState({ kept: others });
    use((storage) => {
      if (!value) {
        storage.removeItem(name);
        return;
      }
      const names = this.#names(storage);
      const at = (name: string): number => parse(storage.getItem(name))?.at ?? 0;
      if (names.length >= maxSessions && !names.includes(name))
        storage.removeItem(names.reduce((oldest, name) => (at(name) < at(oldest) ? name : oldest)));
      // If the new value does not fit, the old one must not override the page's own copy.
      if (!isLarge) storage.removeItem(name);
      storage.setItem(name, JSON.stringify({ at: Date.now(), value }));
    });
  }

  #names(of: object): string[] {
    return Object.keys(of).filter((name) => name.startsWith(this.#prefix));
  }
}

export function isRecord(value: unknown): value is Stored {
  return typeof value === 'object' && value !== null;
}

/** Does nothing if there is no storage or it is full. */
function use<T>(what: (storage: Storage) => T): T | undefined {
  try {
    return what(localStorage);
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}

function parse(text: string | null): { readonly at: number; readonly value: unknown } | undefined {
  try {
    const { at, value }: { at?: unknown; value?: unknown } = JSON.parse(text ?? '{}');
    return typeof at === 'number' ? { at, value } : undefined;
  } catch {
    return undefined; // of another version, or truncated
  }
}
