// Proposal "session/status": asks, without side effects, whether the agent handles a session now.
// Rules:
// - only where it is advertised (announced.ts); `session/status {sessionId}` → `{status}`;
// - seed: "live" (other methods will work) and "not_found" (use session/load); today's schema:
//   "open", "saved" or a word to be treated as "saved" (load or resume starts it), and error -32002
//   for an unknown session;
// - no answer in time says that the agent does not respond; -32601 and -32602 say that the question
//   is not for this agent; any other error, and an answer without a word for the status, say nothing
//   of the session;
// - an agent that says something in the session while it is asked has the session: that outweighs a
//   late answer, and one that denies it.
// On our side it is free of effects too: it changes what is shown and what precedes the next prompt.
import { Deferred } from '../../base/deferred';
import { at } from '../../base/untrusted';
import { RPC_CODES, RpcError } from '../jsonrpc/rpcError';
import type { StateReport } from '../protocol/dialect';
import { readState } from './promptLifecycle';

interface Requester {
  request(method: string, params: unknown, options?: { signal?: AbortSignal }): Promise<unknown>;
}

/** `live`: other methods work. `saved`: can be loaded. `failed`: the agent could not say. */
export type StatusAnswer = 'live' | 'saved' | 'not_found' | 'unsupported' | 'failed' | 'unresponsive';

const DENIALS: ReadonlySet<StatusAnswer> = new Set(['saved', 'not_found', 'unresponsive']);

export interface SessionStatus {
  readonly answer: StatusAnswer;
  readonly state?: StateReport;
  /**
   * The session is live in the word of today's schema (`open`), which does not promise that prompts
   * of this connection will work before it has resumed or loaded the session.
   */
  readonly isUnattached?: true;
}

export interface ProbeTerms {
  /** How long silence is borne before the answer is `unresponsive`, in milliseconds. */
  readonly timeoutMs: number;
  readonly heardTimes: () => number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Probes one session.
 * @throws whatever the connection throws when it is closed; `signal`'s reason.
 */
export async function probeStatus(
  connection: Requester,
  sessionId: string,
  { timeoutMs, heardTimes, signal }: ProbeTerms,
): Promise<SessionStatus> {
  signal?.throwIfAborted();
  const before = heardTimes();
  const late = new AbortController();
  const given = new Deferred<SessionStatus>();
  const timer = setTimeout(() => given.resolve({ answer: 'unresponsive' }), timeoutMs);
  const giveUp = (): void => given.reject(signal?.reason);
  signal?.addEventListener('abort', giveUp, { once: true });
  const answer = connection.request('session/status', { sessionId }, { signal: late.signal }).then(readStatus, failure);
  try {
    const status = await Promise.race([answer, given.promise]);
    return heardTimes() !== before && DENIALS.has(status.answer) ? { answer: 'live' } : status;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
    answer.catch(() => {}); // not awaited after a timeout
    late.abort();
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
