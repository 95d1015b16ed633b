// What an HTTP request may have in its headers. Names and values from settings and secrets are
// checked before a request is made: errors of HTTP clients repeat the header, with secret and
// signature.

const NAME = /^[\w!#$%&'*+.^`|~-]{1,200}$/;
const VALUE = /^[\t -~\u0080-\u00ff]*$/;
const CREDENTIAL = /^[!-~]{1,8192}$/;

/** Returns whether a text can be the name of a header (RFC 9110, section 5.6.2). */
export function isHeaderName(text: string): boolean {
  return NAME.test(text);
}

/** Returns whether a text can be the value of a header (RFC 9110, section 5.5): one line, Latin-1. */
export function isHeaderValue(text: string): boolean {
  return VALUE.test(text);
}

export function isCredential(text: string): boolean {
  return CREDENTIAL.test(text);
}
