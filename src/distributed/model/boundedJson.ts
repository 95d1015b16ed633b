// Parses untrusted JSON: bounded in bytes and in depth before it is walked.

import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';

/** Levels of objects and arrays; the protocol needs less than a tenth. */
export const MAX_DEPTH = 100;

/** @throws ParleyError `too-large`, `not-json`, `too-deep`; none of them repeats the text */
export function parseBounded(text: string | Uint8Array, maxBytes: number): unknown {
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.byteLength;
  if (bytes > maxBytes)
    throw new ParleyError('too-large', localizable('The text has {0} bytes; the maximum is {1}.', bytes, maxBytes));
  let value: unknown;
  try {
    value = JSON.parse(typeof text === 'string' ? text : new TextDecoder('utf-8', { fatal: true }).decode(text));
  } catch {
    // The engine's own message quotes the text.
    throw new ParleyError('not-json', localizable("The text isn't JSON."));
  }
  if (!isDepthWithin(value, MAX_DEPTH)) {
    throw new ParleyError('too-deep', localizable('The JSON is nested more than {0} levels deep.', MAX_DEPTH));
  }
  return value;
}

/** Does not recurse, so depth cannot exhaust the stack. */
export function isDepthWithin(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      if (depth >= limit) return false;
      for (const child of Object.values(item)) if (typeof child === 'object' && child !== null) next.push(child);
    }
    level = next;
  }
  return true;
}
