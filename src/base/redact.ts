// Takes secrets out of text that leaves the extension: by their values, by where they stand in JSON, and by what they look like.
import { KnownSecrets, REDACTED } from './knownSecrets';
import { redactJson } from './redactJson';

/** Keys and tokens of known services, and what follows a word that names one. */
const LOOKS_SECRET =
  /\b(sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|AIza[\w-]{30,}|AKIA[A-Z0-9]{12,}|xox[abpr]-[\w-]{10,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+)|((?:api[_-]?key|token|secret|password|authorization)\\*["']?\s*[:=]\s*\\*["']?)(?!\[redacted\])(?:(?:bearer|basic)\s+)?(?!\[redacted\])[^\s"',;\\]{6,}|(\b(?:bearer|basic)\s+)[\w.~+/=-]{12,}/gi;

/** What is known of this window's secrets: the one instance, since text leaves the window in many places. */
export const knownSecrets = new KnownSecrets();

/** The text without secrets. */
export function redact(text: string, known: KnownSecrets = knownSecrets): string {
  return redactJson(known.redact(text)).replace(
    LOOKS_SECRET,
    (_match, _whole, label: string | undefined, scheme: string | undefined) => `${label ?? scheme ?? ''}${REDACTED}`,
  );
}
