// Lets replayed entries share the contents of the transcript, so that memory does not hold each of
// them twice.
import type { Entry } from '../model/state';

const MAX_DEPTH = 32;

/**
 * Replaces equal contents of a replayed entry by those of the known entry. Contents are replaced
 * and never changed in place, so they can be shared.
 */
export function shareContent(repeated: Entry, known: Entry): void {
  if (repeated.kind === 'tool' && known.kind === 'tool') {
    if (isEqual(repeated.content, known.content)) repeated.content = known.content;
    if (known.rawInput !== undefined && isEqual(repeated.rawInput, known.rawInput)) repeated.rawInput = known.rawInput;
    if (known.rawOutput !== undefined && isEqual(repeated.rawOutput, known.rawOutput))
      repeated.rawOutput = known.rawOutput;
    return;
  }
  if (!isMessage(repeated) || !isMessage(known)) return;
  // The list itself keeps growing in each entry, so it is not shared.
  for (const [index, block] of known.content.entries())
    if (isEqual(repeated.content[index], block)) repeated.content[index] = block;
}

function isMessage(entry: Entry): entry is Extract<Entry, { kind: 'user' | 'agent' | 'thought' }> {
  return entry.kind === 'user' || entry.kind === 'agent' || entry.kind === 'thought';
}

function isEqual(a: unknown, b: unknown, depth = 0): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || depth > MAX_DEPTH) return false;
  const [ours, theirs] = [Object.entries(a), b as Record<string, unknown>];
  return (
    Array.isArray(a) === Array.isArray(b) &&
    ours.length === Object.keys(b).length &&
    ours.every(([key, value]) => Object.hasOwn(b, key) && isEqual(value, theirs[key], depth + 1))
  );
}
