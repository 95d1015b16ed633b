// Connections that were there and broke, as `fetch` reports them: one that breaks says nothing
// about the next.

const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * Returns whether a request failed because its connection broke.
 * @param error what `fetch` or the reading of a body threw
 */
export function isBrokenConnection(error: unknown): boolean {
  return BROKEN.has(systemCode(error));
}

/**
 * The code that the system gave for an error or for what caused it, such as `ECONNREFUSED`; '' if
 * none.
 */
export function systemCode(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string' && /^[A-Z_]{3,40}$/.test(at.code)) return at.code;
  }
  return '';
}
