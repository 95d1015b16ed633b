// This window's secrets by value, so that they can be removed from outgoing text.

const MAX_VALUES = 1_000;
/** In characters. Shorter values would match by chance. */
const MIN_SECRET = 6;
/** Longest partial value searched for at the end of a text, in characters. */
const MAX_OPEN_END = 4096;
/** Needs no escaping in JSON. */
export const REDACTED = '[redacted]';

export class KnownSecrets {
  readonly #values = new Set<string>();
  #pattern: RegExp | undefined;

  /** Adds a value and, if it is JSON, each string in it. */
  add(value: string, minimum = MIN_SECRET): void {
    for (const text of textsIn(value)) {
      if (text.trim().length < minimum) continue;
      // The scheme (`Bearer …`) may be written differently elsewhere.
      for (const part of [text, text.slice(text.lastIndexOf(' ') + 1)])
        if (part.length >= minimum) for (const form of formsOf(part)) this.#addForm(form);
    }
  }

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  readonly redact = (text: string): string => {
    if (this.isEmpty) return text;
    this.#pattern ??= patternOf(this.#values);
    return text.replace(this.#pattern, REDACTED);
  };

  spans(text: string): readonly (readonly [from: number, to: number])[] {
    if (this.isEmpty) return [];
    this.#pattern ??= patternOf(this.#values);
    return [...text.matchAll(this.#pattern)].map(({ index, 0: value }) => [index, index + value.length]);
  }

  openEnd(text: string): number {
    let longest = 0;
    for (const value of this.#values) {
      const end = text.slice(-Math.min(value.length - 1, MAX_OPEN_END));
      const first = value.slice(0, 1);
      for (let from = end.indexOf(first); from !== -1; from = end.indexOf(first, from + 1)) {
        if (end.length - from <= longest) break;
        if (value.startsWith(end.slice(from))) longest = end.length - from;
      }
    }
    return longest;
  }

  #addForm(value: string): void {
    if (this.#values.has(value)) return;
    this.#values.add(value);
    const [oldest] = this.#values;
    if (this.#values.size > MAX_VALUES && oldest !== undefined) this.#values.delete(oldest);
    this.#pattern = undefined;
  }
}

function textsIn(value: string): readonly string[] {
  const found = [value, ...value.split(/[\r\n]+/)];
  if (!value.startsWith('{')) return found;
  try {
    for (const part of Object.values(JSON.parse(value) as object)) if (typeof part === 'string') found.push(part);
  } catch {
    // Not JSON.
  }
  return found;
}

function formsOf(value: string): readonly string[] {
  const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
  const forms = [value, escaped(value), escaped(escaped(value))];
  return value.isWellFormed() ? [...forms, encodeURIComponent(value)] : forms;
}

function patternOf(values: ReadonlySet<string>): RegExp {
  const sorted = [...values].sort((one, other) => other.length - one.length);
  return new RegExp(sorted.map((value) => value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g');
}
