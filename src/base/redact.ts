// Removes secrets from text that leaves the extension: by value, by position in JSON, and by
// appearance.
import { KnownSecrets, REDACTED } from './knownSecrets';
import { redactJson } from './redactJson';

/** Keys and tokens of known services, and values that follow a telling word. */
const LOOKS_SECRET =
  /\b(sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|AIza[\w-]{30,}|AKIA[A-Z0-9]{12,}|xox[abpr]-[\w-]{10,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+)|((?:api[_-]?key|token|secret|password|authorization)\\*["']?\s*[:=]\s*\\*["']?)(?!\[redacted\])(?:(?:bearer|basic)\s+)?(?!\[redacted\])[^\s"',;\\]{6,}|(\b(?:bearer|basic)\s+)[\w.~+/=-]{12,}/gi;

/** The secrets of this window. A single instance, as text leaves the window in many places. */
export const knownSecrets = new KnownSecrets();

/** Returns the text without secrets. */
export function redact(text: string, known: KnownSecrets = knownSecrets): string {
  return redactJson(known.redact(text)).replace(
    LOOKS_SECRET,
    (_match, _whole, label: string | undefined, scheme: string | undefined) => `${label ?? scheme ?? ''}${REDACTED}`,
  );
}

/**
 * Returns the pieces of one text without secrets, also those that stand in several pieces: such a
 * one is replaced in its first piece and missing in the others. Looks by value and by appearance.
 */
export function redactPieces(pieces: readonly string[], known: KnownSecrets = knownSecrets): readonly string[] {
  const clean = withoutSpans(pieces, known.spans(pieces.join('')));
  const text = clean.join('');
  const spans = [...text.matchAll(LOOKS_SECRET)].map(
    ({ index, 0: match, 2: label = '', 3: scheme = '' }) =>
      [index + label.length + scheme.length, index + match.length] as const,
  );
  return withoutSpans(clean, spans);
}

/** @param spans of the joined text, in order */
function withoutSpans(
  pieces: readonly string[],
  spans: readonly (readonly [from: number, to: number])[],
): readonly string[] {
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
