// The secrets of this window by their values, so that they can be taken out of any text that leaves it, whatever stands around them there.

/** Values that are remembered; the oldest go first. */
const MAX_VALUES = 1_000;
/** Shorter values would be found by chance, in characters. */
const MIN_SECRET = 6;
/** Longer beginnings of a value are not looked for at the end of a text, in characters. */
const MAX_OPEN_END = 4096;
/** What replaces a secret. It needs no escape in JSON. */
export const REDACTED = '[redacted]';

export class KnownSecrets {
  readonly #values = new Set<string>();
  #pattern: RegExp | undefined;

  /** Remembers a value, and each value in it where it is JSON. @param minimum shorter values are not taken */
  add(value: string, minimum = MIN_SECRET): void {
    for (const text of textsIn(value)) {
      if (text.trim().length < minimum) continue;
      // A scheme before it (`Bearer …`) may be written otherwise elsewhere.
      for (const part of [text, text.slice(text.lastIndexOf(' ') + 1)])
        if (part.length >= minimum) for (const form of formsOf(part)) this.#remember(form);
    }
  }

  /** Nothing is known, and {@link redact} changes nothing. */
  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  /** The text without any of them. */
  readonly redact = (text: string): string => {
    if (this.isEmpty) return text;
    this.#pattern ??= patternOf(this.#values);
    return text.replace(this.#pattern, REDACTED);
  };

  /** Returns how many characters at the end of a text are the longest beginning of a value that could go on after it. */
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

  #remember(value: string): void {
    if (this.#values.has(value)) return;
    this.#values.add(value);
    const [oldest] = this.#values;
    if (this.#values.size > MAX_VALUES && oldest !== undefined) this.#values.delete(oldest);
    this.#pattern = undefined;
  }
}

/** The value; the texts in it where it is a JSON object; its lines where it has several, as a key in PEM. */
function textsIn(value: string): readonly string[] {
  const found = [value, ...value.split(/[\r\n]+/)];
  if (!value.startsWith('{')) return found;
  try {
    for (const part of Object.values(JSON.parse(value) as object)) if (typeof part === 'string') found.push(part);
  } catch {
    // It only looked like JSON.
  }
  return found;
}

/** As it may stand in a text: plain, in JSON, in JSON within JSON, in an address. */
function formsOf(value: string): readonly string[] {
  const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
  const forms = [value, escaped(value), escaped(escaped(value))];
  return value.isWellFormed() ? [...forms, encodeURIComponent(value)] : forms;
}

/** The longest first: one may begin with another. */
function patternOf(values: ReadonlySet<string>): RegExp {
  const sorted = [...values].sort((one, other) => other.length - one.length);
  return new RegExp(sorted.map((value) => value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g');
}
