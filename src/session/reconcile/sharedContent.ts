// What an agent repeats of a session stands in the transcript already: the repetition is kept with the contents of the transcript, not with a copy of each.
import type { Entry } from '../model/state';

/** Values within values that are compared. */
const MAX_DEPTH = 32;

/** Gives a repeated entry the contents of the one that it repeats, where they are the same. Contents are replaced and never changed in place. */
export function shareContent(repeated: Entry, known: Entry): void {
  if (repeated.kind === 'tool' && known.kind === 'tool') {
    if (isEqual(repeated.content, known.content)) repeated.content = known.content;
    if (known.rawInput !== undefined && isEqual(repeated.rawInput, known.rawInput)) repeated.rawInput = known.rawInput;
    if (known.rawOutput !== undefined && isEqual(repeated.rawOutput, known.rawOutput))
      repeated.rawOutput = known.rawOutput;
    return;
  }
  if (!isMessage(repeated) || !isMessage(known)) return;
  // The list itself goes on growing in each of them.
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
