// Proposal "session/status": asks, without side effects, whether the agent currently handles a
// session. Rules:
// - Only if advertised (announced.ts). `session/status {sessionId}` → `{status}`.
// - First draft: "live" (other methods work) and "not_found" (use session/load). Current schema:
//   "open", "saved" (load or resume first; also for unknown words), and error -32002 for unknown
//   sessions.
// - A timeout means that the agent is unresponsive; -32602 and -32601 that it doesn't support the
//   method. Other errors and unreadable answers say nothing about the session.
// - Any message of the session during the request proves it live, whatever the answer. Our side has
//   no side effects either: the status changes only the display and what precedes the next prompt.
import { Deferred } from '../../base/deferred';
import { at } from '../../base/untrusted';
import { RPC_CODES, RpcError } from '../jsonrpc/rpcError';
import type { StateReport } from '../protocol/dialect';
import { readState } from './promptLifecycle';

interface Requester {
  request(method: string, params: unknown, options?: { signal?: AbortSignal }): Promise<unknown>;
}

/** `live`: other methods work. `saved`: can be loaded. `failed`: the agent could not tell. */
export type StatusAnswer = 'live' | 'saved' | 'not_found' | 'unsupported' | 'failed' | 'unresponsive';

const DENIALS: ReadonlySet<StatusAnswer> = new Set(['saved', 'not_found', 'unresponsive']);

export interface SessionStatus {
  readonly answer: StatusAnswer;
  readonly state?: StateReport;
  /** The status was `open`: prompts may fail here before the session is resumed or loaded. */
  readonly isUnattached?: true;
}

export interface ProbeTerms {
  /** In milliseconds, until the answer is `unresponsive`. */
  readonly timeoutMs: number;
  readonly heardTimes: () => number;
  readonly signal?: AbortSignal | undefined;
}

/** @throws errors of the closed connection; `signal`'s reason */
export async function probeStatus(
  connection: Requester,
  sessionId: string,
  { timeoutMs, heardTimes, signal }: ProbeTerms,
): Promise<SessionStatus> {
  signal?.throwIfAborted();
  const before = heardTimes();
  const requestAbort = new AbortController();
  const outcome = new Deferred<SessionStatus>();
  const timer = setTimeout(() => outcome.resolve({ answer: 'unresponsive' }), timeoutMs);
  const onAbort = (): void => outcome.reject(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const answer = connection
    .request('session/status', { sessionId }, { signal: requestAbort.signal })
    .then(readStatus, failure);
  try {
    const status = await Promise.race([answer, outcome.promise]);
    return heardTimes() !== before && DENIALS.has(status.answer) ? { answer: 'live' } : status;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    answer.catch(() => {}); // not awaited after a timeout
    requestAbort.abort();
  }
}

export function readStatus(result: unknown): SessionStatus {
  const status = at(result, 'status');
  const state = readState(at(result, 'state'), 'state_update');
  if (typeof status !== 'string') return { answer: 'failed' };
  if (status === 'live' || status === 'open')
    return { answer: 'live', state, isUnattached: status === 'open' || undefined };
  return { answer: status === 'not_found' ? 'not_found' : 'saved' };
}

function failure(error: unknown): SessionStatus {
  if (!(error instanceof RpcError)) throw error;
  switch (error.code) {
    case RPC_CODES.resourceNotFound:
      return { answer: 'not_found' };
    case RPC_CODES.methodNotFound:
    case RPC_CODES.invalidParams:
      return { answer: 'unsupported' };
    default:
      return { answer: 'failed' };
  }
}
