// Reads the token counts of a turn (sections 1.7 and 3.4, "usage"). Fields that do not fit are left
// out.

import { at } from '../../base/untrusted';
import type { TokenParts, TurnTokens } from '../../session/events/content';

const PARTS = [
  ['input', 'inputTokens'],
  ['output', 'outputTokens'],
  ['cachedRead', 'cachedReadTokens'],
  ['cachedWrite', 'cachedWriteTokens'],
  ['thought', 'thoughtTokens'],
] as const;

export function readTokens(usage: unknown): TurnTokens {
  const tokens = countAt(usage, 'totalTokens');
  if (tokens === undefined) return {};
  const tokenParts: { -readonly [K in keyof TokenParts]: TokenParts[K] } = {};
  for (const [part, field] of PARTS) {
    const count = countAt(usage, field);
    if (count !== undefined) tokenParts[part] = count;
  }
  return { tokens, tokenParts: Object.keys(tokenParts).length > 0 ? tokenParts : undefined };
}

function countAt(usage: unknown, field: string): number | undefined {
  const count = at(usage, field);
  return typeof count === 'number' && count >= 0 ? count : undefined;
}
