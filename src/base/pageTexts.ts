// The translations that a page gets: those that it shows, and no others.

/** Where the texts of a page stand in a bundle, as the build found them. */
interface Positions {
  /** How many texts the bundle has. */
  readonly of: number;
  /** From each text to the next, the first from the start of the bundle. */
  readonly steps: readonly number[];
}

/**
 * Returns the translations of a page by their English texts. A bundle that is another one than at
 * the build is returned as a whole.
 * @param positions JSON of {@link Positions}
 */
export function pageTexts(
  positions: string,
  bundle: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const { of, steps } = JSON.parse(positions) as Positions;
  const all = Object.entries(bundle);
  if (all.length !== of) return bundle;
  let at = 0;
  return Object.fromEntries(
    steps.map((step) => {
      at += step;
      return all[at]!;
    }),
  );
}
