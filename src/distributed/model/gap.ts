// A message of a history that could not be loaded: the reason as code and sentence, and whether a
// retry can help.

import { ParleyError } from '../../base/errors';
import { type Localizable, localizable, localize } from '../../base/localizable';
import { carriesSignature, expiryOf } from './resourceUrl';

export interface Gap {
  readonly kind: 'gap';
  /** From 0; -1 for the state and the content of a part. */
  readonly index: number;
  /** As in the descriptor: to forward and to fetch, never to show or log. */
  readonly url: string;
  readonly reason: GapReason;
  readonly host: string;
  readonly retryable: boolean;
}

type Sentence = (host: string | Localizable) => Localizable;

const SENTENCES = {
  'not-found': (host) => localizable('{0} no longer has it.', host),
  timeout: (host) => localizable("{0} didn't respond in time.", host),
  refused: (host) => localizable('{0} refuses connections.', host),
  expired: () => localizable('The link has expired.'),
  forbidden: (host) => localizable('{0} denied access.', host),
  unauthorized: (host) => localizable('{0} requires a token.', host),
  'not-json': (host) => localizable("{0} sent data that isn't JSON.", host),
  'not-a-message': (host) => localizable("{0} sent data that isn't a message.", host),
  'too-large': (host) => localizable('{0} sent too much data.', host),
  blocked: (host) => localizable("{0} isn't on the public internet or the list of allowed servers.", host),
  changed: (host) => localizable('{0} sent data that has been changed.', host),
  torn: () => localizable('The file on this machine is damaged.'),
  'no-such-host': (host) => localizable('The host {0} is unknown.', host),
  'bad-redirect': (host) => localizable("{0} sent a redirect that isn't allowed.", host),
  'connection-lost': (host) => localizable('The connection to {0} was lost.', host),
  'server-error': (host) => localizable('{0} reported an error.', host),
  'session-too-large': () => localizable('The session is too large to load at once.'),
  cancelled: () => localizable('Loading was stopped.'),
} satisfies Readonly<Record<string, Sentence>>;

export type GapReason = keyof typeof SENTENCES;

export function gapSentence(reason: GapReason, host: string): string {
  return localize(gapReasonText(reason, host));
}

export function gapReasonText(reason: GapReason, host: string): Localizable {
  const sentence: Sentence = SENTENCES[reason];
  return sentence(host === '' ? localizable('The server') : host);
}

/** A stored reason may be of another version. */
export function isGapReason(word: string): word is GapReason {
  return Object.hasOwn(SENTENCES, word);
}

/** Permanent reasons. A truncated response fails as JSON or by its hash, which is retryable. */
const FINAL: ReadonlySet<GapReason> = new Set([
  'expired',
  'not-a-message',
  'too-large',
  'torn',
  'bad-redirect',
  'session-too-large',
]);

export function gapOf(index: number, url: string, reason: GapReason): Gap {
  const host = URL.canParse(url) ? new URL(url).host : '';
  return { kind: 'gap', index, url, reason, host, retryable: !FINAL.has(reason) };
}

export function reasonOfStatus(status: number, url: string, now: number): GapReason {
  if (status === 404 || status === 410) return 'not-found';
  if (status === 401 || status === 403) {
    if ((expiryOf(url) ?? Number.POSITIVE_INFINITY) <= now) return 'expired';
    // A token does not help with a refused signed link.
    return status === 401 && !carriesSignature(url) ? 'unauthorized' : 'forbidden';
  }
  if (status === 413) return 'too-large';
  if (status === 408 || status === 504) return 'timeout';
  return 'server-error';
}

const BY_CODE: Readonly<Record<string, GapReason>> = {
  'not-found': 'not-found',
  timeout: 'timeout',
  refused: 'refused',
  'too-large': 'too-large',
  'too-deep': 'not-a-message',
  'not-json': 'not-json',
  'invalid-data': 'not-a-message',
  'blocked-address': 'blocked',
  'not-listed': 'blocked',
  'bad-url': 'blocked',
  'bad-redirect': 'bad-redirect',
  'bad-encoding': 'not-json',
  'no-such-host': 'no-such-host',
  'connection-lost': 'connection-lost',
  'store-down': 'refused',
  'store-denied': 'forbidden',
  torn: 'torn',
  changed: 'changed',
  cancelled: 'cancelled',
};

export class ResourceFailure extends Error {
  readonly reason: GapReason;

  constructor(reason: GapReason) {
    super(reason);
    this.name = 'ResourceFailure';
    this.reason = reason;
  }
}

export function reasonOfError(error: unknown): GapReason {
  if (error instanceof ResourceFailure) return error.reason;
  return (error instanceof ParleyError ? BY_CODE[error.code] : undefined) ?? 'server-error';
}
