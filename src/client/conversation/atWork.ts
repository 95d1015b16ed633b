// Whether an agent has something to do beside the turns, or waits for the user: its process is needed then.
import type { SessionState } from '../../session/state';
import { isEnded } from '../../session/tools';

/** Returns whether anything goes on in a session or waits for an answer, as far as the agent has told. */
export function isAtWork(state: Readonly<SessionState>): boolean {
  const { agentState = 'idle', background, elicitations, entries, permissions, replaying, terminals, turn } = state;
  if (turn || replaying || agentState !== 'idle') return true;
  if (background.length > 0 || permissions.size > 0 || elicitations.size > 0) return true;
  if ([...terminals.values()].some(({ exit, released }) => !exit && !released)) return true;
  return entries.some((entry) => entry.kind === 'tool' && entry.toolKind === 'subagent' && !isEnded(entry.status));
}
