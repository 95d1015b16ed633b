// Removes secrets from outgoing text: by value, by position in JSON, and by appearance.
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
import { KnownSecrets, REDACTED } from './knownSecrets';
import { redactJson } from './redactJson';

export const knownSecrets = new KnownSecrets();

export function redact(text: string, known: KnownSecrets = knownSecrets): string {
  const byPosition = redactJson(known.redact(text));
  return withoutSpans([byPosition], secretSpans(byPosition))[0] ?? '';
}

/** Replaces a secret that spans several pieces in its first piece, and cuts it from the others. */
export function redactPieces(pieces: readonly string[], known: KnownSecrets = knownSecrets): readonly string[] {
  const clean = withoutSpans(pieces, known.spans(pieces.join('')));
  return withoutSpans(clean, secretSpans(clean.join('')));
}

function withoutSpans(pieces: readonly string[], spans: readonly Span[]): readonly string[] {
  if (spans.length === 0) return pieces;
  let begin = 0;
  let next = 0;
  return pieces.map((piece) => {
    const end = begin + piece.length;
    let clean = '';
    let at = begin;
    for (; next < spans.length; next++) {
      const [from, to] = spans[next] ?? [end, end];
      if (from >= end) break;
      clean += piece.slice(at - begin, Math.max(at, from) - begin);
      if (from >= begin) clean += REDACTED;
      at = Math.min(to, end);
      if (to > end) break;
    }
    clean += piece.slice(at - begin);
    begin = end;
    return clean;
  });
}

type Span = readonly [from: number, to: number];

/**
 * The last group is the secret, at the end of the match. Each pattern takes linear time:
 * repetitions are bounded or end at a character that they exclude.
 */
const SHAPES: readonly RegExp[] = [
  // Keys that secretlint misses or needs context for.
  /\b(sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|AIza[\w-]{30,}|(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|npm_[A-Za-z0-9]{20,}|pypi-[\w-]{20,}|hf_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{16,}|SG\.[\w-]{16,}\.[\w-]{16,}|dop_v1_[a-f0-9]{32,}|hv[bs]\.[\w-]{20,}|ATATT3[\w=-]{20,}|sntry[su]_[\w=+/-]{20,}|r8_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{40,}|tvly-[\w-]{20,}|nvapi-[\w-]{20,}|AGE-SECRET-KEY-1[A-Z0-9]{40,})/g,
  /\b(eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*){1,3})/g,
  /\bhooks\.slack\.com\\?\/services\\?\/([\w\\/-]{10,100})/g,
  /-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----((?:[^-]|-(?!----)){1,100000})/g,
  // scheme://user:password@host, or a token instead of both.
  /\b[a-z][a-z0-9+.-]{1,30}:\\?\/\\?\/[^\s/:@"'<>\\]{0,256}:([^\s/"'<>\\]{1,256})(?=@)/gi,
  /\b[a-z][a-z0-9+.-]{1,30}:\\?\/\\?\/([^\s/:@"'<>\\]{20,256})(?=@)/gi,
  /\bjdbc:oracle:\w{1,10}:[^\s/@"']{1,100}\/([^\s@"']{1,100})(?=@)/gi,
  // URL parameters.
  /[?&](?:api[_-]?)?(?:key|sig|signature|auth|pass|pwd|password|secret|client_secret|(?:access_|id_|refresh_|auth_|session_)?token|sas|X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token))=([^&\s"'<>\\#]{3,})/gi,
  // Options: --password VALUE, --token=VALUE, --api-key 'VALUE'.
  /(?<![\w-])--?(?:[a-z0-9]{1,30}-){0,4}(?:password|passwd|passphrase|pass|pwd|token|secret|api-?key|secret-?key|access-?key|auth-?key|private-?key|credentials?)(?:\s{1,4}|=)\\*["']?(?!-)([^\s"'\\,]{2,})/gi,
  // Programs with a short password option; curl's -u and -b.
  /\b(?:mysql\w{0,10}|mariadb\w{0,10}|sshpass|7za?|(?:docker|podman|nerdctl|buildah|skopeo|oras|registry|az|oc)\s+login|redis-cli|mongo(?:sh|dump|restore)?)\b[^\n|;&]{0,300}?\s-[pa]\s?\\*["']?([^\s"'\\]{2,})/gi,
  /\b(?:(?:un)?zip\b[^\n|;&]{0,300}?\s-P|ldap\w{1,10}\b[^\n|;&]{0,300}?\s-w|openssl\s+enc\b[^\n|;&]{0,300}?\s-k)\s?\\*["']?([^\s"'\\]{2,})/g,
  /(?<![\w:/.-])(?:curl|https?)(?=\s)[^\n|;&]{0,300}?\s(?:-[ua]\s?|--(?:user|auth)[ =])\\*["']?[^\s:"'\\]{1,100}:([^\s"'\\/][^\s"'\\]{0,})/gi,
  /\bcurl\b[^\n|;&]{0,300}?\s(?:-b\s?|--cookie[ =])\\*["']?([^\s"'\\=]{1,100}=[^\s"'\\]{1,})/gi,
  /\s--from-literal[ =]\\*["']?[^\s"'\\=]{1,100}=([^\s"'\\]{2,})/g,
  /:_(?:authToken|auth|password)\s{1,4}([^\s"'\\]{6,})/g,
  /\b(?:machine|host|default|login)\b(?:\s|\\[nrt]){1,8}(?:[^\s\\]{1,200}(?:\s|\\[nrt]){1,8}){0,4}?password(?:\s|\\[nrt]){1,8}\\*["']?([^\s"'\\]{2,})/gi,
  // SQL, XML.
  /\b(?:password|identified\s{1,4}by)\s{1,4}\\*'([^\s'\\]{2,})(?=\\*')/gi,
  /<[\w:.-]{0,40}(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)>([^<\s]{3,})/gi,
  /\b(?:key|name)=\\*["'][\w:.-]{0,40}(?:password|secret|token|api[_-]?key|access[_-]?key)\\*["']\s{1,4}value=\\*["']([^"'\\]{3,})/gi,
  // Headers, as programs print them.
  /\b(?:set-)?cookie\\*["']?\s{0,4}:\s{0,4}\\*["']?([^\r\n"'\\]{3,})/gi,
  /\bauthorization\\*["']?\s{0,4}[:=]\s{0,4}\\*["']?(?:[a-z][\w-]{1,30}\s{1,4})?(?!\[redacted\])([^\s"',;\\]{6,})/gi,
  /\b(?:bearer|basic)\s{1,4}([\w.~+/=-]{12,})/gi,
  // Assignments to a telling name.
  /(?:api[_-]?key|secret|token|password|passwd|passphrase|passcode|(?:ssh|pg|db)pass|account[_-]?key|access[_-]?key(?:_id)?|private[_-]?key|shared[_-]?key|credential|signature)\\*["']?\s{0,8}[:=]\s{0,8}\\*["']?(?:(?:bearer|basic)\s{1,4})?(?!\[redacted\])([^\s"',;\\]{6,})/gi,
  /(?:password|passwd|passphrase)\\*["']?=\\*["']?([^\s"',;\\&]{3,})/gi,
];

/** Names with other meanings too: the value must also look like a secret. */
const WEAK =
  /(?<![A-Za-z])(?:pass|pwd|auth|key|sig)\\*["']?\s{0,8}[:=]\s{0,8}\\*["']?(?!\[redacted\])([^\s"',;\\&]{6,})/gi;

/** Characters per search: some rules of secretlint are slower than linear. */
const PIECE = 32 * 1024;
/** A secret cut at the end of a piece is whole in the next one. */
const OVERLAP = 1024;

interface Rule {
  create(context: object, options: unknown): { file?(source: object): unknown };
}

/** Runs secretlint's rules without its core, which is asynchronous and reads files. */
function secretlintRules(): (text: string) => readonly Span[] {
  const rules: { readonly rule: Rule; readonly options: unknown }[] = [];
  const descriptor = (options?: { readonly options?: unknown }): unknown => options?.options ?? {};
  (creator as unknown as { create(context: object, options: object): void }).create(
    {
      registerRule: (rule: Rule, options?: { readonly options?: unknown }) =>
        rules.push({ rule, options: descriptor(options) }),
    },
    {},
  );
  let found: Span[] = [];
  const context = {
    report: ({ range: [from, to] }: { readonly range: Span }) => void found.push([from, to]),
    ignore() {},
    sharedOptions: {},
    createTranslator: () => () => ({ message: '', messageId: '', data: {} }),
  };
  const searches = rules.map(({ rule, options }) => rule.create(context, options));
  return (content) => {
    found = [];
    const source = { content, filePath: '', ext: '', contentType: 'text' };
    for (const search of searches) search.file?.(source);
    return found;
  };
}

let byRule: ((text: string) => readonly Span[]) | undefined;

function secretSpans(text: string): readonly Span[] {
  const spans: Span[] = [];
  for (const shape of SHAPES) for (const match of text.matchAll(shape)) if (!isCount(match)) spans.push(spanOf(match));
  for (const match of text.matchAll(WEAK)) if (looksSecret(match.at(-1) ?? '')) spans.push(spanOf(match));
  byRule ??= secretlintRules();
  for (let begin = 0; begin < text.length; begin += PIECE)
    for (const [from, to] of byRule(text.slice(begin, begin + PIECE + OVERLAP))) {
      const span: Span = [begin + from, begin + to];
      // Keeps the rest of a URL readable if only its password is a secret.
      if (
        !spans.some(([start, end]) => start < span[1] && end > span[0]) &&
        !text.slice(...span).includes('[redacted]')
      )
        spans.push(span);
    }
  return merged(spans);
}

function spanOf(match: RegExpExecArray): Span {
  const end = match.index + match[0].length;
  return [end - (match.at(-1)?.length ?? 0), end];
}

function isCount(match: RegExpExecArray): boolean {
  return /token\\*["']?\s*[:=]/i.test(match[0]) && /^\d{1,9}$/.test(match.at(-1) ?? '');
}

function looksSecret(value: string): boolean {
  if (/^(?:[~.]{0,2}[\\/]|[a-z]:[\\/]|\[redacted\]|\d+$)/i.test(value)) return false;
  return !/^[A-Za-z_-]{1,15}$/.test(value);
}

function merged(spans: readonly Span[]): readonly Span[] {
  const all: [number, number][] = [];
  for (const [from, to] of [...spans].sort(([one], [other]) => one - other)) {
    const last = all.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}
