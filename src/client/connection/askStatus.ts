// Asks an agent for the status of a session (`session/status`, if supported).
import { probeStatus, type SessionStatus } from '../../acp/proposals/sessionStatus';
import type { AgentLink, OpenedSession } from '../ports/agentLink';
import type { SessionOpenStrategy } from './sessionOpenStrategy';

const STATUS_MS = 5000;

/**
 * Returns `unsupported` if the agent can't be asked.
 * @throws ParleyError if the agent has ended; `signal`'s reason
 */
export async function askStatus({ link, sessionId }: OpenedSession, signal: AbortSignal): Promise<SessionStatus> {
  const { rpc, description, router } = link;
  if (!rpc || !description.features.status) return { answer: 'unsupported' };
  const terms = { timeoutMs: STATUS_MS, heardTimes: () => router.updatesOf(sessionId) };
  return link.until((stop) => probeStatus(rpc, sessionId, { ...terms, signal: stop }), signal);
}

export async function isLive(link: AgentLink, opening: SessionOpenStrategy, signal: AbortSignal): Promise<boolean> {
  if (opening.kind !== 'reopen') return false;
  return (await askStatus({ link, sessionId: opening.sessionId }, signal)).answer === 'live';
}
