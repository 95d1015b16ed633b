// Proposal "Session Ready Signal": the client says `session/ready {sessionId}` once it has received
// and processed the response of session/new or session/load, so that an agent knows from when on
// its notifications arrive at a session that exists. Rules:
// - only where the agent advertises it (announced.ts);
// - once after each success, never after an error; after the early updates were applied; before any
//   prompt of that session;
// - a notification: nothing waits for it, but it is on the wire before anything that is sent later.

interface Notifier {
  notify(method: string, params: unknown): Promise<void>;
}

/** Sends the signal. @throws ParleyError `connection-closed` */
export function sendReady(connection: Notifier, sessionId: string): Promise<void> {
  return connection.notify('session/ready', { sessionId });
}
