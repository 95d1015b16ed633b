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
