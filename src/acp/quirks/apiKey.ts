// The form in which an agent takes a key with its sign-in, where it announces `_meta["api-key"]`.
import { at, isMarked } from '../../base/untrusted';
import type { KeyForm } from '../protocol/dialect';

/**
 * Returns how a sign-in method takes a key; undefined where it takes none. gemini-cli reads
 * `_meta["api-key"]` as text, codex-acp reads `_meta["api-key"].apiKey`, and each ignores the form
 * of the other.
 */
export function announcedKeyForm(announced: unknown): KeyForm | undefined {
  if (!isMarked(announced)) return undefined;
  return at(announced, 'provider') === 'google' ? 'text' : 'object';
}

export function keyMeta(form: KeyForm, key: string): Readonly<Record<string, unknown>> {
  return { 'api-key': form === 'text' ? key : { apiKey: key } };
}
