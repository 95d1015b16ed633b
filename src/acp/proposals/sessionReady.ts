// Proposal "Session Ready Signal": the client sends `session/ready {sessionId}` once it has
// processed the response of session/new or session/load, so that the agent's notifications arrive
// at an existing session. Rules:
// - only if the agent advertises it (announced.ts);
// - once after each success, never after an error; after the early updates were applied and before
//   any prompt of that session;
// - a notification: not awaited, but written before any later message.

interface Notifier {
  notify(method: string, params: unknown): Promise<void>;
}

/** @throws ParleyError `connection-closed` */
export function sendReady(connection: Notifier, sessionId: string): Promise<void> {
  return connection.notify('session/ready', { sessionId });
}
