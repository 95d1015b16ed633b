// How an agent takes an API key at sign-in, if it advertises `_meta["api-key"]`.
import { at, isMarked } from '../../base/untrusted';
import type { KeyForm } from '../protocol/dialect';

/** gemini-cli reads `_meta["api-key"]` only as text, codex-acp only `_meta["api-key"].apiKey`. */
export function announcedKeyForm(announced: unknown): KeyForm | undefined {
  if (!isMarked(announced)) return undefined;
  return at(announced, 'provider') === 'google' ? 'text' : 'object';
}

export function keyMeta(form: KeyForm, key: string): Readonly<Record<string, unknown>> {
  return { 'api-key': form === 'text' ? key : { apiKey: key } };
}
