// Looking up untrusted names: inherited ones such as `constructor` and `__proto__` do not count.

/** Returns the object's own property of that name, or undefined. */
export function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
