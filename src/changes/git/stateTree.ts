// The tree that names a state: the folder and each repository below it, side by side.
import { run, type Store } from './storeRuns';

/** The entry of the folder itself. Names of the others are encoded, and never contain this. */
const SELF = '=';

/**
 * Writes the tree of a state.
 * @param self the tree of the folder
 * @param nested the trees of repositories below it, by their path relative to the folder
 */
export async function writeState(
  store: Store,
  self: string,
  nested: ReadonlyMap<string, string>,
  signal: AbortSignal | undefined,
): Promise<string> {
  const entries = [
    [SELF, self] as const,
    ...[...nested].map(([path, tree]) => [encodeURIComponent(path), tree] as const),
  ];
  const input = entries.map(([name, tree]) => `040000 tree ${tree}\t${name}\0`).join('');
  const args = ['mktree', '-z', '--missing'];
  const output = await run(store, { args, input: Buffer.from(input), signal, timeoutMs: 10_000 });
  return output.toString('latin1').trim();
}

/** The path relative to the folder of a path in such a tree. */
export function folderPath(path: string): string {
  const slash = path.indexOf('/');
  const owner = path.slice(0, slash);
  return owner === SELF ? path.slice(slash + 1) : `${decodeURIComponent(owner)}${path.slice(slash)}`;
}
