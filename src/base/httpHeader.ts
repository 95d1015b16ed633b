// Validates header names and values from settings and secrets before a request is made, because
// errors of HTTP clients repeat the header with its secret.

const NAME = /^[\w!#$%&'*+.^`|~-]{1,200}$/;
const VALUE = /^[\t -~\u0080-\u00ff]*$/;
const CREDENTIAL = /^[!-~]{1,8192}$/;

/** RFC 9110, section 5.6.2. */
export function isHeaderName(text: string): boolean {
  return NAME.test(text);
}

/** RFC 9110, section 5.5: one line of Latin-1. */
export function isHeaderValue(text: string): boolean {
  return VALUE.test(text);
}

export function isCredential(text: string): boolean {
  return CREDENTIAL.test(text);
}
