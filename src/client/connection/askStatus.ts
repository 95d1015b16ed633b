// Asks an agent what it has of a session, where it offers `session/status`.
import { probeStatus, type SessionStatus } from '../../acp/proposals/sessionStatus';
import type { AgentLink, OpenedSession } from '../ports/agentLink';
import type { SessionOpenStrategy } from './sessionOpenStrategy';

/** How long an agent may take to answer, in milliseconds. */
const STATUS_MS = 5000;

/**
 * Returns what the agent says of the session; `unsupported` where it cannot be asked.
 * @throws ParleyError how the agent ended; `signal`'s reason
 */
export async function askStatus({ link, sessionId }: OpenedSession, signal: AbortSignal): Promise<SessionStatus> {
  const { rpc, description, router } = link;
  if (!rpc || !description.features.status) return { answer: 'unsupported' };
  const terms = { timeoutMs: STATUS_MS, heardTimes: () => router.updatesOf(sessionId) };
  return link.until((stop) => probeStatus(rpc, sessionId, { ...terms, signal: stop }), signal);
}

/** Returns whether the agent says that it handles the session that is to be opened. @throws as {@link askStatus} */
export async function isLive(link: AgentLink, opening: SessionOpenStrategy, signal: AbortSignal): Promise<boolean> {
  if (opening.kind !== 'reopen') return false;
  return (await askStatus({ link, sessionId: opening.sessionId }, signal)).answer === 'live';
}
