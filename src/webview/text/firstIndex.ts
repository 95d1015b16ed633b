// Binary search.

/**
 * Returns the first index in the range for which `holds` is true, or `end`.
 * @param holds monotonic: once true, true for all later indexes
 */
export function firstIndex(start: number, end: number, holds: (index: number) => boolean): number {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
