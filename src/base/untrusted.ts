// Reads untrusted JSON: own properties only, and none of its code is called.

/** Whether a capability is declared: `true` or any object, including `{}`. */
export function isMarked(value: unknown): boolean {
  return value === true || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

/** The value at a path of keys; undefined if a step is missing. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

/** Objects are not converted: `{"toString": 1}` would throw. */
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
    return parseMessage(value);
  } catch {
    return value;
  }
}

export function parsedJson(text: string): unknown {
  try {
    return parseMessage(text);
  } catch {
    return undefined;
  }
}

/** V8 takes seconds for megabytes of brackets. */
const MAX_DEPTH = 500;
const QUOTE = 0x22;

/** @throws SyntaxError also if arrays and objects nest deeper than any message does */
export function parseMessage(text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  if (nestsTooDeep(text)) throw new SyntaxError('JSON is nested too deep');
  return JSON.parse(text, reviver);
}

/** Returns whether arrays and objects nest deeper than any message does, without parsing. */
export function nestsTooDeep(text: string): boolean {
  return text.length > MAX_DEPTH && opens(text) > MAX_DEPTH && isTooDeep(text);
}

/** Upper bound of the nesting depth, counted up to just over the maximum. */
function opens(text: string): number {
  let count = 0;
  for (const char of '[{')
    for (let at = text.indexOf(char); at !== -1 && count <= MAX_DEPTH; at = text.indexOf(char, at + 1)) count++;
  return count;
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) depth++;
    else if (code === 0x5d || code === 0x7d) depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === 0x5c) at++;
  }
  return text.length;
}
