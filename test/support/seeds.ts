// How many random runs a test does: few in the fast tier, many in the slow one.

/** Returns `fast`, or `slow` where $PARLEY_MORE_SEEDS is set. */
export function seeds(fast: number, slow: number): number {
  return process.env.PARLEY_MORE_SEEDS ? slow : fast;
}
