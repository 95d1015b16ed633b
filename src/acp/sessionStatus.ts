// Proposal "session/status": asks, without side effects, whether the agent handles a session now. Rules:
// - only where it is advertised; `session/status {sessionId}` → `{status}`;
// - seed: "live" (other methods will work) and "not_found" (use session/load); today's schema: "open", "saved" or a word to be treated as "saved", and error
//   -32002 for an unknown session;
// - no answer in time says that the agent does not respond; -32601 and -32602 say that the question is not for this agent.
// On our side it is free of effects too: it changes what is shown, nothing else.
import { at, isMarked } from './capabilities';
import { RpcError, rpcCodes } from './rpcError';

/** The part of a connection that this proposal needs. */
interface Requester {
  request(method: string, params: unknown, options?: { signal?: AbortSignal }): Promise<unknown>;
}

/**
 * `live`: in memory, other methods work. `not_found`: this agent does not handle it now. `unsupported`: the agent cannot say. `unresponsive`: no answer in time.
 */
export type StatusAnswer = 'live' | 'not_found' | 'unsupported' | 'unresponsive';

/** Whether the raw result of `initialize` advertises the probe. */
export function advertisesStatus(initializeResult: unknown): boolean {
  return [
    at(initializeResult, 'agentCapabilities', 'sessionCapabilities', 'status'),
    at(initializeResult, 'agentCapabilities', 'session', 'status'),
    at(initializeResult, 'capabilities', 'session', 'status'),
  ].some(isMarked);
}

/**
 * Probes one session.
 * @param timeoutMs how long silence is borne before the answer is `unresponsive`.
 * @throws whatever the connection throws when it is closed.
 */
export async function probeStatus(connection: Requester, sessionId: string, timeoutMs: number): Promise<StatusAnswer> {
  const late = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<'unresponsive'>((resolve) => {
    timer = setTimeout(() => resolve('unresponsive'), timeoutMs);
  });
  const answer = connection.request('session/status', { sessionId }, { signal: late.signal }).then(
    (result): StatusAnswer => {
      const status = at(result, 'status');
      return status === 'live' || status === 'open' ? 'live' : 'not_found';
    },
    (error: unknown): StatusAnswer => {
      if (!(error instanceof RpcError)) throw error;
      if (error.code === rpcCodes.resourceNotFound) return 'not_found';
      return 'unsupported';
    },
  );
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
    answer.catch(() => {}); // after a timeout nobody else listens
    if (!late.signal.aborted) late.abort();
  }
}
