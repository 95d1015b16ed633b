// Connections that were there and broke, as `fetch` reports them: one that breaks says nothing
// about the next.

const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

export function isBrokenConnection(error: unknown): boolean {
  return BROKEN.has(systemCode(error));
}

/** The system's code of an error or its cause, such as `ECONNREFUSED`; '' if none. */
export function systemCode(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string' && /^[A-Z_]{3,40}$/.test(at.code)) return at.code;
  }
  return '';
}
