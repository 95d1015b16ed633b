// Looking a name up that came from outside: `constructor` and `__proto__` are no entries.

/** The object's own entry of that name; undefined where it has none. */
export function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
