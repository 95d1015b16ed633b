// The form in which an agent takes a key with its sign-in, where it announces `_meta["api-key"]`.
import { at, isMarked } from '../../base/untrusted';
import type { KeyForm } from '../protocol/dialect';

/**
 * Returns how a sign-in method takes a key; undefined where it takes none. gemini-cli reads
 * `_meta["api-key"]` as text, codex-acp reads `_meta["api-key"].apiKey`, and each ignores the form
 * of the other. What they announce differs only by the provider of the models.
 * @param announced the `_meta["api-key"]` of the method
 */
export function announcedKeyForm(announced: unknown): KeyForm | undefined {
  if (!isMarked(announced)) return undefined;
  return at(announced, 'provider') === 'google' ? 'text' : 'object';
}

/** Returns the `_meta` of a sign-in with a key. */
export function keyMeta(form: KeyForm, key: string): Readonly<Record<string, unknown>> {
  return { 'api-key': form === 'text' ? key : { apiKey: key } };
}
