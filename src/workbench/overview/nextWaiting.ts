// The order in which one key goes from one session that needs the user to the next.
import type { LiveSession } from './liveSessions';

/**
 * Returns the session that needs the user next: after the one that they are in, the one that was
 * used longest ago first.
 * @param current the session that the user is in
 */
export function nextWaiting(sessions: readonly LiveSession[], current: string | undefined): LiveSession | undefined {
  const waiting = sessions
    .filter(({ status }) => status === 'needsYou')
    .sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1));
  const index = waiting.findIndex(({ key }) => key === current);
  return waiting[(index + 1) % Math.max(1, waiting.length)];
}
