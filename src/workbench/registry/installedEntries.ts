// The entries of `parley.agents` that start installed agents: their versions, and switching them.
import { isDeepStrictEqual } from 'node:util';
import { at } from '../../base/untrusted';
import type { InstalledAgent } from '../../registry/install/installedAgents';
import type { AgentEntries } from './agentEntries';

export interface InstalledGroup {
  readonly id: string;
  /** The version started by the user's entry, or the newest. */
  readonly current: InstalledAgent;
  readonly entry: string | undefined;
  readonly previous: InstalledAgent | undefined;
  readonly size: number;
}

/** @param installed all versions, the newest of each agent first */
export function groupInstalled(installed: readonly InstalledAgent[], entries: AgentEntries): readonly InstalledGroup[] {
  const all = Object.entries(entries.all());
  return [...Map.groupBy(installed, ({ id }) => id)].flatMap(([id, versions]) => {
    const [entry, current = versions[0]] = entryAmong(versions, all);
    if (!current) return [];
    const previous = versions.find((one) => one !== current && one.installedAt < current.installedAt);
    return [{ id, current, entry, previous, size: versions.reduce((sum, { size }) => sum + size, 0) }];
  });
}

function entryAmong(
  versions: readonly InstalledAgent[],
  all: readonly (readonly [id: string, entry: unknown])[],
): readonly [string?, InstalledAgent?] {
  for (const [id, entry] of all) {
    const used = versions.find(({ command }) => command === at(entry, 'command'));
    if (used) return [id, used];
  }
  return [];
}

/** Updates an unedited entry of another version, or adds one. @returns the entry's id */
export async function useVersion(
  agent: InstalledAgent,
  versions: readonly InstalledAgent[],
  entries: AgentEntries,
): Promise<string> {
  const all = entries.all();
  const candidates = [agent, ...versions];
  const [id, before] = entryAmong(candidates, Object.entries(all));
  const { name, command, args, env } = agent;
  if (id === undefined || !before) {
    const newId = entries.freeId(agent.id);
    const hasEnv = Object.keys(env).length > 0;
    await entries.set(newId, { name, command, args, env: hasEnv ? env : undefined });
    return newId;
  }
  const entry = all[id] as Readonly<Record<string, unknown>>;
  const changed = {
    ...entry,
    command,
    ...(isDeepStrictEqual(entry.args ?? [], before.args) && { args }),
    ...(isDeepStrictEqual(entry.env ?? {}, before.env) && Object.keys({ ...before.env, ...env }).length > 0 && { env }),
  };
  await entries.set(id, changed);
  return id;
}

export async function dropEntries(versions: readonly InstalledAgent[], entries: AgentEntries): Promise<void> {
  const commands = new Set<unknown>(versions.map(({ command }) => command));
  await entries.change((before) =>
    Object.fromEntries(Object.entries(before).filter(([, entry]) => !commands.has(at(entry, 'command')))),
  );
}
