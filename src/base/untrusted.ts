// Reading JSON that came from outside: own properties only, and nothing of it is called. Capabilities are markers that are there or not.

/** True for `true` and for any object, `{}` included; false for everything else (false, null, strings, numbers, arrays). */
export function isMarked(value: unknown): boolean {
  return value === true || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

/** The value at a path of keys in untrusted JSON; undefined where any step is missing. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

/** What an agent gave for a word, as text. An object is not asked for its own text: `{"toString": 1}` has none. */
export function wordOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'object' : String(value);
}
