// Reading untrusted JSON in the dialects of models.
import { at } from '../../../src/base/untrusted';

/** An array as it is, anything else as none. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text of a string, of a block with `text`, or of a list of those. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(plainText).join('\n');
  const text = at(value, 'text');
  return typeof text === 'string' ? text : '';
}
