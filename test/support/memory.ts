// A memento of VS Code's that is only in memory.
import type { Memento } from 'vscode';

export function memory(): Memento {
  const values = new Map<string, unknown>();
  return {
    keys: () => [...values.keys()],
    get: <T>(key: string, fallback?: T) => (values.get(key) ?? fallback) as T,
    async update(key: string, value: unknown) {
      values.set(key, value);
    },
  };
}
