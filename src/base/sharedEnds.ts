// What two texts have in common at their beginnings and ends, in UTF-16 units.

/** Returns the length of the common beginning. */
export function sharedStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let same = 0;
  while (same < most && a.charCodeAt(same) === b.charCodeAt(same)) same++;
  return same;
}

/** Returns the length of the common end behind `start`. */
export function sharedEnd(a: string, b: string, start: number): number {
  const most = Math.min(a.length, b.length) - start;
  let same = 0;
  while (same < most && a.charCodeAt(a.length - same - 1) === b.charCodeAt(b.length - same - 1)) same++;
  return same;
}
