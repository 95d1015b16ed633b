// Removes secrets from text that leaves the extension: by value, by position in JSON, and by
// appearance.
import { KnownSecrets, REDACTED } from './knownSecrets';
import { redactJson } from './redactJson';
import { type Span, secretSpans } from './secretShapes';

/** The secrets of this window. A single instance, as text leaves the window in many places. */
export const knownSecrets = new KnownSecrets();

/** Returns the text without secrets. */
export function redact(text: string, known: KnownSecrets = knownSecrets): string {
  const byPosition = redactJson(known.redact(text));
  return withoutSpans([byPosition], secretSpans(byPosition))[0] ?? '';
}

/**
 * Returns the pieces of one text without secrets, also those that stand in several pieces: such a
 * one is replaced in its first piece and missing in the others. Looks by value and by appearance.
 */
export function redactPieces(pieces: readonly string[], known: KnownSecrets = knownSecrets): readonly string[] {
  const clean = withoutSpans(pieces, known.spans(pieces.join('')));
  return withoutSpans(clean, secretSpans(clean.join('')));
}

/** @param spans of the joined text, in order */
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
