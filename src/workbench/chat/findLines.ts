// Finds lines again in a text that has changed since.

/** Lines searched before and after the old place. */
const MAX_AWAY = 5000;

/** Returns the first line of the match nearest to `first`. */
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
