// Ids of a restarted agent. Many agents count from one in each process, so that an old id can be
// about a new message or call. An id stays valid if the agent's replay has the same content for it.

import type { EventOf } from '../events/event';
import type { ModelContext } from './context';
import { bareTextOf, isEitherPrefix } from './entryText';
import type { Entry } from './state';

const MAX_KNOWN = 50;

/** Returns an entry's agent id, prefixed with its kind; undefined if there is none. */
export function idOf(entry: Entry): string | undefined {
  if (entry.kind === 'tool') return toolId(entry.toolCallId);
  if (entry.kind !== 'user' && entry.kind !== 'agent' && entry.kind !== 'thought') return undefined;
  return entry.messageId === undefined ? undefined : `${entry.kind}:${entry.messageId}`;
}

/** Returns the ids for which the replay has the same content as this transcript. */
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
    if (id !== undefined && entry && hasSameContent(entry, theirs)) same.push(id);
  }
  return same;
}

export function renewIds(context: ModelContext, { known = [] }: EventOf<'ids_renewed'>): void {
  context.renewedAt = context.state.entries.length;
  const same = new Set(known);
  for (const key of context.messages.keys()) if (!same.has(key)) context.messages.delete(key);
  for (const id of context.tools.keys()) if (!same.has(toolId(id))) context.tools.delete(id);
  for (const name of same) restoreId(context, name);
  context.state.nests.renew();
  context.nestedMessages.clear();
  context.plans.clear();
  context.compactions.clear();
}

function restoreId(context: ModelContext, name: string): void {
  const entry = context.state.entries.findLast((one) => idOf(one) === name);
  if (entry?.kind === 'tool') context.tools.set(entry.toolCallId, entry.index);
  else if (entry) context.messages.set(name, entry.index);
}

function hasSameContent(ours: Entry, theirs: Entry): boolean {
  return isEitherPrefix(comparableText(ours), comparableText(theirs));
}

function comparableText(entry: Entry): string {
  if (entry.kind === 'tool') return entry.title;
  return entry.kind === 'user' || entry.kind === 'agent' || entry.kind === 'thought' ? bareTextOf(entry) : '';
}

function toolId(id: string): string {
  return `tool:${id}`;
}
