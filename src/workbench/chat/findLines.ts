// Finds lines again in a text that has changed since.

/** Lines that are looked at before and after the place where they were. */
const MAX_AWAY = 5000;

/**
 * Returns the first of the lines where they stand now, the nearest to where they were; undefined where
 * they are not found.
 * @param lineAt of the text; undefined beyond its end
 * @param first where they were
 */
export function findLines(
  lineAt: (line: number) => string | undefined,
  lines: readonly string[],
  first: number,
): number | undefined {
  if (lines.length === 0) return undefined;
  const isAt = (line: number): boolean => lines.every((text, index) => lineAt(line + index) === text);
  for (let away = 0; away <= MAX_AWAY; away++)
    for (const line of away === 0 ? [first] : [first - away, first + away]) if (isAt(line)) return line;
  return undefined;
}
