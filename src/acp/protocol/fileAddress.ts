// Paths that agents write as `file:` addresses. Pure.

/** What a decoded path must not get from an escape: separators, and the end of the text. */
const HIDDEN = /%(?:2f|5c|00)/i;
const LINE = /#L\d+(?:-L?\d+)?$/i;

/**
 * Returns the path that a `file:` address of this machine names; any other text as it is, so that
 * an address of another machine, or one that hides a separator, is the path of nothing.
 */
export function pathOfFileAddress(text: string, isWindows = process.platform === 'win32'): string {
  const encoded = /^file:(?:\/\/(?:localhost)?(?=\/))?(\/[^/\\].*|\/)$/is.exec(text)?.[1];
  if (encoded === undefined || HIDDEN.test(encoded)) return text;
  const path = decoded(encoded.replace(LINE, ''));
  if (!isWindows) return path;
  return /^\/[a-z]:(?:[\\/]|$)/i.test(path) ? path.slice(1).replaceAll('/', '\\') : text;
}

/** Escapes of characters that RFC 3986 allows in a path: `!$&'()*+,;=:@`. */
const NEEDLESS = /%(?:2[1467-9A-C]|3[ABD]|40)/gi;

/** Returns an address without needless escapes: some agents read the path as it is written. */
export function plainAddress(address: string): string {
  return address.startsWith('file:') ? address.replace(NEEDLESS, decodeURIComponent) : address;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
