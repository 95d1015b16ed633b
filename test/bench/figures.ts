// What a benchmark says: rows with a value and, where one is asked for, a target; and the few
// statistics that all of them share.

/** One figure of the benchmark's table. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly target?: number;
  readonly better: 'lower' | 'higher';
}

/** Makes rows whose names begin alike, and of which less is better. */
export function rowsOf(of: string): (name: string, value: number, unit: string, target?: number) => Row {
  return (name, value, unit, target) => ({
    name: `${of}: ${name}`,
    value: rounded(value),
    unit,
    target,
    better: 'lower',
  });
}

/** The middle of the values; the upper one of an even number. NaN if there are none. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** The value that this percentage of the values is below. NaN if there are none. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((percent / 100) * sorted.length))] ?? Number.NaN;
}

/**
 * Rounded to three significant digits after the point where the value is small, to whole numbers
 * where it is large.
 */
export function rounded(value: number): number {
  const factor = Math.abs(value) < 10 ? 1000 : Math.abs(value) < 1000 ? 10 : 1;
  return Math.round(value * factor) / factor;
}

/** Whether a row meets its target; undefined if it has none. */
export function meets({ value, target, better }: Row): boolean | undefined {
  if (target === undefined) return undefined;
  return better === 'lower' ? value <= target : value >= target;
}
