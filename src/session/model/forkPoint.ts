// Finds the message of the agent that a fork of its session can end with.
import type { Entry } from './state';

/**
 * Returns the agent's id of the last thing that it said before an entry. Undefined if anything else
 * comes in between that it would remember, if the message has no id or one that another turn has
 * too, or if the agent's session began after it.
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

/** Messages without an id, of an agent that gives ids, are words of its adapter. */
const PASSED: ReadonlySet<Entry['kind']> = new Set(['agent', 'notice', 'error', 'turn_end']);
