// Proposal "Session Ready Signal": the client says `session/ready {sessionId}` once it has received
// and processed the response of session/new or session/load, so that an agent knows from when on
// its notifications arrive at a session that exists. Rules:
// - only where the agent advertises it, in any of the places that agents and drafts use; `true` or
//   any object means yes;
// - once after each success, never after an error; after the early updates were applied; before any
//   prompt of that session;
// - a notification: nothing waits for it, but it is on the wire before anything that is sent later.
import { at, isMarked } from '../../base/untrusted';

/** The part of a connection that this proposal needs. */
interface Notifier {
  notify(method: string, params: unknown): Promise<void>;
}

/**
 * Returns whether the raw result of `initialize` advertises the signal. Any positive place wins.
 */
export function advertisesReady(initializeResult: unknown): boolean {
  return [
    at(initializeResult, 'capabilities', 'session', 'ready'),
    at(initializeResult, 'agentCapabilities', 'session', 'ready'),
    at(initializeResult, 'agentCapabilities', 'sessionCapabilities', 'ready'),
    at(initializeResult, 'agentCapabilities', '_meta', 'session/ready'),
    at(initializeResult, 'agentCapabilities', '_meta', 'session', 'ready'),
    at(initializeResult, 'capabilities', '_meta', 'session/ready'),
    at(initializeResult, '_meta', 'session/ready'),
    at(initializeResult, '_meta', 'session', 'ready'),
  ].some(isMarked);
}

/** Sends the signal. @throws ParleyError `connection-closed` */
export function sendReady(connection: Notifier, sessionId: string): Promise<void> {
  return connection.notify('session/ready', { sessionId });
}
