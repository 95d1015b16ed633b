// The gap in a history where a message could not be loaded: the reason as a code and as a sentence,
// and whether trying again can help.
import { ParleyError } from '../../base/errors';
import { carriesSignature, expiryOf } from './resourceUrl';

export type GapReason =
  | 'not-found'
  | 'timeout'
  | 'refused'
  | 'expired'
  | 'forbidden'
  | 'unauthorized'
  | 'not-json'
  | 'not-a-message'
  | 'too-large'
  | 'blocked'
  | 'changed'
  | 'torn'
  | 'no-such-host'
  | 'bad-redirect'
  | 'connection-lost'
  | 'server-error'
  | 'session-too-large'
  | 'cancelled';

export interface Gap {
  readonly kind: 'gap';
  /** Position in the history, from 0; -1 for the state and for the content of a part. */
  readonly index: number;
  /** As the descriptor has it: to forward and to fetch, never to show or log. */
  readonly url: string;
  readonly reason: GapReason;
  /** A sentence without anything that a server sent. */
  readonly sentence: string;
  readonly retryable: boolean;
}

const SENTENCES: Readonly<Record<GapReason, (host: string) => string>> = {
  'not-found': (host) => `${host} does not have it (any more).`,
  timeout: (host) => `${host} did not answer in time.`,
  refused: (host) => `${host} refuses connections.`,
  expired: () => 'The link has expired.',
  forbidden: (host) => `${host} refuses access.`,
  unauthorized: (host) => `${host} wants a token.`,
  'not-json': (host) => `What ${host} sent is not JSON.`,
  'not-a-message': (host) => `What ${host} sent is not a message.`,
  'too-large': (host) => `What ${host} sent is too large.`,
  blocked: (host) => `${host} is not on the public internet and not on the list of allowed servers.`,
  changed: (host) => `What ${host} sent was changed since it was written.`,
  torn: () => 'The file on this machine is damaged.',
  'no-such-host': (host) => `The name of ${host} is not known.`,
  'bad-redirect': (host) => `${host} redirects in a way that is not allowed.`,
  'connection-lost': (host) => `The connection to ${host} broke.`,
  'server-error': (host) => `${host} had an error.`,
  'session-too-large': () => 'The session is larger than what is loaded at once.',
  cancelled: () => 'Loading was stopped.',
};

/**
 * What stays as it is however often one asks. Half an answer is no JSON, and has another hash: the
 * next one may be whole.
 */
const FINAL: ReadonlySet<GapReason> = new Set([
  'expired',
  'not-a-message',
  'too-large',
  'torn',
  'bad-redirect',
  'session-too-large',
]);

export function gapOf(index: number, url: string, reason: GapReason): Gap {
  const host = URL.canParse(url) ? new URL(url).host : 'The server';
  return { kind: 'gap', index, url, reason, sentence: SENTENCES[reason](host), retryable: !FINAL.has(reason) };
}

/** The reason behind an HTTP status that is no success. @param now milliseconds since 1970 */
export function reasonOfStatus(status: number, url: string, now: number): GapReason {
  if (status === 404 || status === 410) return 'not-found';
  if (status === 401 || status === 403) {
    if ((expiryOf(url) ?? Number.POSITIVE_INFINITY) <= now) return 'expired';
    // A token does not help with a signed link that is refused.
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

/** A resource that cannot be had, with the reason that the reader will see. */
export class ResourceFailure extends Error {
  readonly reason: GapReason;

  constructor(reason: GapReason) {
    super(reason);
    this.name = 'ResourceFailure';
    this.reason = reason;
  }
}

/** The reason behind what a fetch or a store threw. */
export function reasonOfError(error: unknown): GapReason {
  if (error instanceof ResourceFailure) return error.reason;
  return (error instanceof ParleyError ? BY_CODE[error.code] : undefined) ?? 'server-error';
}
