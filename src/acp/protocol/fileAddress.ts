// Paths that agents send as `file:` URLs. Pure.

/** Separators and NUL must not come from escapes. */
const ESCAPED_SEPARATOR = /%(?:2f|5c|00)/i;
const LINE_FRAGMENT = /#L\d+(?:-L?\d+)?$/i;

/** The path of a local `file:` URL; any other text, also with a hidden separator, unchanged. */
export function pathOfFileAddress(text: string, isWindows = process.platform === 'win32'): string {
  const encoded = /^file:(?:\/\/(?:localhost)?(?=\/))?(\/[^/\\].*|\/)$/is.exec(text)?.[1];
  if (encoded === undefined || ESCAPED_SEPARATOR.test(encoded)) return text;
  const path = decoded(encoded.replace(LINE_FRAGMENT, ''));
  if (!isWindows) return path;
  return /^\/[a-z]:(?:[\\/]|$)/i.test(path) ? path.slice(1).replaceAll('/', '\\') : text;
}

/** Escapes of characters that RFC 3986 allows in a path: `!$&'()*+,;=:@`. */
const NEEDLESS = /%(?:2[1467-9A-C]|3[ABD]|40)/gi;

/** Removes needless escapes, because some agents use the path without decoding it. */
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
