// Redacts secrets in JSON by position: values of `env` and `headers` and of telling names, also in
// nested JSON strings. Tolerates truncated lines and surrounding text.
import { REDACTED } from './knownSecrets';

const SECRET_NAME =
  /api[_-]?key|token$|secret|passw(?:or)?d|passphrase|authorization|cookie|credential|private[_-]?key|access[_-]?key|account[_-]?key|shared[_-]?key/i;
/** Ambiguous names: the value may be an auth method or a path. */
const MAYBE_SECRET =
  /(?:^|[_-])(?:pass|pwd|auth|jwt|bearer|passcode|(?:ssh|pg|db)pass)$|(?:^|[a-z])(?:Pass|Pwd|Auth|Jwt)$/;
const MAYBE_SECRET_VARIABLE = /(?:^|_)(?:PASS|PWD|AUTH|JWT|PASSCODE|(?:SSH|PG|DB)PASS)$/;
const PLAIN = /^(?:[a-z_-]{0,12}|[~.]{0,2}[\\/].*|[a-z]:[\\/].*)$/is;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** All values inside are redacted. */
const SECRET_CONTAINERS = new Set(['env', 'headers', 'httpHeaders', 'environment']);
const SECRET_TEXTS = /(?:credentials?|secrets?|tokens?|passwords?|passphrases?|api[_-]?keys?|cookies?)$/i;
const PASSWORD_PROGRAM = /(?:^|[\\/])(?:mysql\w*|mariadb\w*|sshpass|7za?|redis-cli|mongo\w*)(?:\.exe)?$/i;
const PASSWORD_COMMAND = /^login$/;
const USER_PROGRAM = /(?:^|[\\/])curl(?:\.exe)?$/i;
const MAX_DEPTH = 4;

interface Level {
  readonly isList: boolean;
  readonly isSecret: boolean;
  readonly hasSecretTexts: boolean;
  takesPassword?: boolean;
  takesUser?: boolean;
  program?: string;
  key?: string;
  name?: string;
  value?: readonly [from: number, to: number];
  before?: string;
}

/** Complete JSON stays valid. */
export function redactJson(text: string, depth = 0): string {
  const cuts: (readonly [from: number, to: number, put: string])[] = [];
  const levels: Level[] = [];
  const token = /"(?:[^"\\\n]|\\.)*\\?(?:"|$|(?=\n))|[{}[\]]|-?\d[\w.+-]*/g;
  for (const found of text.matchAll(token)) {
    const [part] = found;
    const from = found.index;
    const level = levels.at(-1);
    if (part === '{' || part === '[') {
      const isContainer = level?.key !== undefined && SECRET_CONTAINERS.has(level.key);
      const hasTexts = level?.key !== undefined && SECRET_TEXTS.test(level.key);
      levels.push({
        isList: part === '[',
        isSecret: isContainer || level?.isSecret === true,
        hasSecretTexts: hasTexts || level?.hasSecretTexts === true,
        ...(part === '[' && level?.program !== undefined && programOf(level.program)),
      });
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
    if (isText && level.hasSecretTexts && !/^(?:name|type|kind|id|scope|title|description|expires\w*)$/i.test(key))
      return REDACTED;
    if (isText && SECRET_NAME.test(key)) return REDACTED;
    const isMaybe = isText && (MAYBE_SECRET.test(key) || MAYBE_SECRET_VARIABLE.test(key));
    if (isMaybe && (/auth$/i.test(key) || /^[~.]{0,2}[\\/]/.test(value)) && PLAIN.test(value)) return undefined;
    if (isMaybe) return REDACTED;
    if (isText && /^(?:command|cmd|program|executable|file)$/.test(key)) level.program = value;
    if (key === 'name' && isText) level.name = value;
    if (key === 'value') level.value = at;
  } else if (level && isText) {
    const { before = '' } = level;
    if (level.hasSecretTexts) return REDACTED;
    level.before = value;
    const program = programOf(value);
    level.takesPassword ||= program.takesPassword || PASSWORD_COMMAND.test(value);
    level.takesUser ||= program.takesUser;
    const user = level.takesUser ? /^((?:-u|--user=)?[^:]+:)./.exec(value)?.[1] : undefined;
    if (user !== undefined && (/^(?:-u|--user)$/.test(before) || /^(?:-u|--user=)/.test(user)))
      return `${user}${REDACTED}`;
    if (level.takesPassword && /^-p./.test(value)) return `-p${REDACTED}`;
    if (level.takesPassword && /^-[pa]$/.test(before)) return REDACTED;
    if (/^--?[\w-]+$/.test(before) && SECRET_NAME.test(before)) return REDACTED;
    const option = /^(--?[\w-]+)=(.*)$/s.exec(value);
    if (option && SECRET_NAME.test(option[1] ?? '')) return `${option[1]}=${REDACTED}`;
  }
  if (!isText || depth >= MAX_DEPTH || !/^\s*[{[]/.test(value)) return undefined;
  const inner = redactJson(value, depth + 1);
  return inner === value ? undefined : JSON.stringify(inner).slice(1, -1);
}

function programOf(name: string): { readonly takesPassword: boolean; readonly takesUser: boolean } {
  return { takesPassword: PASSWORD_PROGRAM.test(name), takesUser: USER_PROGRAM.test(name) };
}

/** Replaces numbers by a quoted string, so that the JSON stays valid. */
function replacementOf(isText: boolean): string {
  return isText ? REDACTED : `"${REDACTED}"`;
}

function closed(level: Level | undefined, cuts: (readonly [number, number, string])[]): void {
  if (level?.value && level.name !== undefined && SECRET_NAME.test(level.name)) cuts.push([...level.value, REDACTED]);
}

function unquoted(part: string): string {
  const body = part.slice(1).replace(/"$/, '');
  for (const whole of [body, body.replace(/\\(?:u[0-9a-f]{0,3})?$/i, '')]) {
    try {
      return JSON.parse(`"${whole}"`) as string;
    } catch {
      // Truncated within an escape: retry without it.
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
