// Finds the agent message that a fork of its session can end with.
import type { Entry } from './state';

/**
 * Returns the agent's id of its last message before an entry. Undefined if the agent would remember
 * anything in between, if the message has no id or one that another turn also has, or if the
 * agent's session began later.
 */
export function forkPointBefore(entries: readonly Entry[], index: number): string | undefined {
  for (const entry of entries.slice(0, index).reverse()) {
    if ('parent' in entry && entry.parent !== undefined) continue; // a subagent's own
    if (entry.kind === 'agent' && entry.messageId !== undefined) {
      const { messageId, turnId } = entry;
      const isAmbiguous = entries.some(
        (one) => one.kind === 'agent' && one.messageId === messageId && one.turnId !== turnId,
      );
      return isAmbiguous ? undefined : messageId;
    }
    const isBeginning = entry.kind === 'notice' && entry.said?.code === 'new-session';
    if (isBeginning || !PASSED.has(entry.kind)) return undefined;
  }
  return undefined;
}

/** Agents that give ids leave them out only for messages of their adapter. */
const PASSED: ReadonlySet<Entry['kind']> = new Set(['agent', 'notice', 'error', 'turn_end']);
