// Adds an entry to the user's settings as a new agent.
import type { EditorServices } from './pages';

/** Deletes keys of an earlier agent with the same id: they were not meant for this one. */
export async function addEntry(
  id: string,
  entry: Readonly<Record<string, unknown>>,
  { catalog, keys, registry }: Pick<EditorServices, 'catalog' | 'keys' | 'registry'>,
): Promise<void> {
  await registry.entries.set(id, entry);
  const agent = catalog.find(id);
  if (agent) await keys.forget(agent);
}
