// Compares data in which an undefined member and an absent one mean the same.
import { strict as assert } from 'node:assert';

/**
 * @throws AssertionError as `assert.deepEqual` in strict mode, but for undefined members of plain
 * objects.
 */
export function sameData(actual: unknown, expected: unknown, message?: string): void {
  assert.deepEqual(defined(actual), defined(expected), message);
}

function defined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(defined);
  if (typeof value !== 'object' || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.assign(
    Object.create(prototype as object | null),
    Object.fromEntries(members.map(([key, member]) => [key, defined(member)])),
  );
}
