// The values of one member of each item, or of several, for a comparison.
export function pluck<T, K extends keyof T>(items: Iterable<T>, key: K): T[K][];
export function pluck<T, K extends keyof T>(items: Iterable<T>, ...keys: readonly K[]): T[K][][];
export function pluck<T, K extends keyof T>(items: Iterable<T>, ...keys: readonly K[]): unknown[] {
  return [...items].map((item) => (keys.length === 1 ? item[keys[0] as K] : keys.map((key) => item[key])));
}
