// Local storage for what the user typed until the host has it. It is written at once and survives a
// crash of the extension host, unlike VS Code's state of the page.

export interface Store {
  readonly prefix: string;
  /** Maximum number of sessions. The least recently written one is removed. */
  readonly most: number;
}

export function readStored(
  { prefix }: Pick<Store, 'prefix'>,
  key: string,
): Readonly<Record<string, unknown>> | undefined {
  const kept = use((storage) => storage.getItem(prefix + key)) ?? undefined;
  return kept === undefined ? undefined : parse(kept)?.value;
}

export function readAllStored({ prefix }: Store): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
  const all = new Map<string, Readonly<Record<string, unknown>>>();
  const names = use((storage) => Object.keys(storage).filter((name) => name.startsWith(prefix))) ?? [];
  for (const name of names) {
    const key = name.slice(prefix.length);
    const value = readStored({ prefix }, key);
    if (value) all.set(key, value);
  }
  return all;
}

export function store(of: Store, key: string, value: object): void {
  use((storage) => {
    if (storage.getItem(of.prefix + key) === null) forgetOldest(storage, of);
    storage.setItem(of.prefix + key, JSON.stringify({ at: Date.now(), value }));
  });
}

export function removeStored({ prefix }: Store, key: string): void {
  use((storage) => storage.removeItem(prefix + key));
}

function forgetOldest(storage: Storage, { prefix, most }: Store): void {
  const names = Object.keys(storage).filter((name) => name.startsWith(prefix));
  if (names.length < most) return;
  const at = new Map(names.map((name) => [name, parse(storage.getItem(name) ?? '')?.at ?? 0]));
  const [oldest] = names.sort((one, other) => (at.get(one) ?? 0) - (at.get(other) ?? 0));
  if (oldest !== undefined) storage.removeItem(oldest);
}

/** Does nothing without storage, or if it is full. */
function use<T>(what: (storage: Storage) => T): T | undefined {
  try {
    return what(localStorage);
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}

function parse(text: string): { readonly at: number; readonly value: Readonly<Record<string, unknown>> } | undefined {
  try {
    const { at, value } = JSON.parse(text) as { readonly at?: unknown; readonly value?: unknown };
    if (typeof at !== 'number' || typeof value !== 'object' || value === null) return undefined;
    return { at, value: value as Readonly<Record<string, unknown>> };
  } catch {
    return undefined; // of another version, or cut off
  }
}
