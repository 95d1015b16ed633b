// The ids of an agent that was started again. Many count from one in each process, so the same id names another message or call then; what the agent repeats of the
// session under its old ids shows that they go on.

import type { SessionEvent } from '../events/event';
import type { ModelContext } from './context';
import { bareTextOf, isBeginning } from './entryText';
import type { Entry } from './state';

/** What can still go on after a session was opened again stands at its end. */
const MAX_KNOWN = 50;

/** The name of an entry among all that have an id of the agent's; undefined where it has none. */
export function idOf(entry: Entry): string | undefined {
  if (entry.kind === 'tool') return toolId(entry.toolCallId);
  if (entry.kind !== 'user' && entry.kind !== 'agent' && entry.kind !== 'thought') return undefined;
  return entry.messageId === undefined ? undefined : `${entry.kind}:${entry.messageId}`;
}

/**
 * The ids by which the agent means the same as before: what it repeats under them is what stands here, as far as both go.
 * @param known the transcript here @param repeated the transcript that the agent's replay makes, in a model of its own
 */
export function sameIds(known: readonly Entry[], repeated: readonly Entry[]): readonly string[] {
  const ours = new Map<string, Entry>();
  for (const entry of known) {
    const id = idOf(entry);
    if (id !== undefined) ours.set(id, entry);
  }
  const same: string[] = [];
  for (let index = repeated.length - 1; index >= 0 && same.length < MAX_KNOWN; index--) {
    const theirs = repeated[index] as Entry;
    const id = idOf(theirs);
    const entry = id === undefined ? undefined : ours.get(id);
    if (id !== undefined && entry && isSame(entry, theirs)) same.push(id);
  }
  return same;
}

/** Applies `ids_renewed`. */
export function renewIds(context: ModelContext, { known = [] }: Extract<SessionEvent, { type: 'ids_renewed' }>): void {
  const same = new Set(known);
  for (const key of context.messages.keys()) if (!same.has(key)) context.messages.delete(key);
  for (const id of context.tools.keys()) if (!same.has(toolId(id))) context.tools.delete(id);
  for (const name of same) nameAgain(context, name);
  context.plans.clear();
  context.compactions.clear();
}

/** An id that was taken for another's until the agent repeated what it names. */
function nameAgain(context: ModelContext, name: string): void {
  const entry = context.state.entries.findLast((one) => idOf(one) === name);
  if (entry?.kind === 'tool') context.tools.set(entry.toolCallId, entry.index);
  else if (entry) context.messages.set(name, entry.index);
}

function isSame(ours: Entry, theirs: Entry): boolean {
  return isBeginning(wordsOf(ours), wordsOf(theirs));
}

function wordsOf(entry: Entry): string {
  if (entry.kind === 'tool') return entry.title;
  return entry.kind === 'user' || entry.kind === 'agent' || entry.kind === 'thought' ? bareTextOf(entry) : '';
}

function toolId(id: string): string {
  return `tool:${id}`;
}
