// Finds secrets in JSON by where they stand: the values of `env` and `headers`, of names that say so, and the same in JSON that is a text of JSON.
// Reads what can be read: a line may be cut anywhere, and may have other text around its JSON.
import { REDACTED } from './knownSecrets';

/** Names whose values are secrets, in any spelling. */
const SECRET_NAME =
  /api[_-]?key|token$|secret|passw(?:or)?d|passphrase|authorization|cookie|credential|private[_-]?key|access[_-]?key/i;
/** Whether a value of this name is a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Lists and objects in which every value is taken out: what is no secret there is of no use to a reader either. */
const SECRET_PLACES = new Set(['env', 'headers', 'httpHeaders', 'environment']);
/** JSON in JSON in JSON. */
const MAX_DEPTH = 4;

interface Level {
  readonly isList: boolean;
  /** Everything below is a value of `env` or `headers`. */
  readonly isSecret: boolean;
  key?: string;
  /** Of an object `{name, value}`: what the name says, and where the value stands. */
  name?: string;
  value?: readonly [from: number, to: number];
  /** Of a list: the text before, which may be an option like `--token`. */
  before?: string;
}

/** The text with secrets replaced. JSON that was whole is whole afterwards. */
export function redactJson(text: string, depth = 0): string {
  const cuts: (readonly [from: number, to: number, put: string])[] = [];
  const levels: Level[] = [];
  const token = /"(?:[^"\\\n]|\\.)*\\?(?:"|$|(?=\n))|[{}[\]]|-?\d[\w.+-]*/g;
  for (const found of text.matchAll(token)) {
    const [part] = found;
    const from = found.index;
    const level = levels.at(-1);
    if (part === '{' || part === '[') {
      const isPlace = level?.key !== undefined && SECRET_PLACES.has(level.key);
      levels.push({ isList: part === '[', isSecret: isPlace || level?.isSecret === true });
    } else if (part === '}' || part === ']') {
      closed(levels.pop(), cuts);
    } else if (
      level &&
      !level.isList &&
      part.startsWith('"') &&
      /^\s*:/.test(text.slice(from + part.length, from + part.length + 20))
    ) {
      level.key = unquoted(part);
    } else {
      const at = [
        part.startsWith('"') ? from + 1 : from,
        part.endsWith('"') && part.length > 1 ? from + part.length - 1 : from + part.length,
      ] as const;
      const put = judge(level, part, at, depth);
      if (put !== undefined) cuts.push([...at, put]);
    }
  }
  for (const level of levels.reverse()) closed(level, cuts);
  return applied(text, cuts);
}

/** What a value is replaced by; undefined where it stays. */
function judge(
  level: Level | undefined,
  part: string,
  at: readonly [number, number],
  depth: number,
): string | undefined {
  const isText = part.startsWith('"');
  const value = isText ? unquoted(part) : part;
  if (level?.isList === false) {
    const { key = '' } = level;
    if (level.isSecret) return key === 'name' ? undefined : replacementOf(isText);
    if (isText && SECRET_NAME.test(key)) return REDACTED;
    if (key === 'name' && isText) level.name = value;
    if (key === 'value') level.value = at;
  } else if (level && isText) {
    const { before = '' } = level;
    level.before = value;
    if (/^--?[\w-]+$/.test(before) && SECRET_NAME.test(before)) return REDACTED;
    const option = /^(--?[\w-]+)=(.*)$/s.exec(value);
    if (option && SECRET_NAME.test(option[1] ?? '')) return `${option[1]}=${REDACTED}`;
  }
  if (!isText || depth >= MAX_DEPTH || !/^\s*[{[]/.test(value)) return undefined;
  const inner = redactJson(value, depth + 1);
  return inner === value ? undefined : JSON.stringify(inner).slice(1, -1);
}

/** A number that is replaced must be a text, or the JSON would not be whole. */
function replacementOf(isText: boolean): string {
  return isText ? REDACTED : `"${REDACTED}"`;
}

/** The name of `{name, value}` may come after the value. */
function closed(level: Level | undefined, cuts: (readonly [number, number, string])[]): void {
  if (level?.value && level.name !== undefined && SECRET_NAME.test(level.name)) cuts.push([...level.value, REDACTED]);
}

/** The text of a JSON string, also of one that is cut. */
function unquoted(part: string): string {
  const body = part.slice(1).replace(/"$/, '');
  for (const whole of [body, body.replace(/\\(?:u[0-9a-f]{0,3})?$/i, '')]) {
    try {
      return JSON.parse(`"${whole}"`) as string;
    } catch {
      // Cut in an escape: without it.
    }
  }
  return body;
}

function applied(text: string, cuts: (readonly [from: number, to: number, put: string])[]): string {
  let clean = '';
  let last = 0;
  for (const [from, to, put] of cuts.sort(([one], [other]) => one - other)) {
    if (from < last) continue;
    clean += text.slice(last, from) + put;
    last = to;
  }
  return clean + text.slice(last);
}
