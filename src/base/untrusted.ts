// Reads untrusted JSON: own properties only, and none of its code is called.

/**
 * Returns true for `true` and for any object, including `{}`; false for everything else (false,
 * null, strings, numbers, arrays). Capabilities are declared like this.
 */
export function isMarked(value: unknown): boolean {
  return value === true || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

/** Returns the value at a path of keys in untrusted JSON; undefined if a step is missing. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

/** Returns an untrusted value as text. Objects are not converted: `{"toString": 1}` would throw. */
export function wordOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'object' : String(value);
}

export function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

const MAX_JSON = 256 * 1024;

export function objectOf(value: unknown): unknown {
  if (typeof value !== 'string' || value.length > MAX_JSON || !/^\s*[{[]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

/** Returns the value of a JSON text; undefined if it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
