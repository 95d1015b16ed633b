// Entries that an agent sends again under the same id: the first time one is added, later it changes in its place.
import type { ModelContext } from './model';
import { currentTurn } from './replay';
import type { Entry } from './state';

/** Adds what `make` makes, or lets `change` change the entry that `index` has for the id, as long as its turn lasts. */
export function upsert(
  context: ModelContext,
  index: Map<string, number>,
  id: string,
  at: number,
  make: Parameters<ModelContext['push']>[0],
  change: (entry: Entry) => void,
): void {
  const known = index.get(id);
  const entry = known === undefined ? undefined : context.state.entries[known];
  // A plan of a new turn is a new plan, even where the agent has no ids for them.
  const turn = currentTurn(context.state);
  if (entry && (entry.turnId === turn?.id || !turn)) {
    change(entry);
    context.note((changes) => changes.entry(entry.index));
  } else index.set(id, context.push(make, at));
}
