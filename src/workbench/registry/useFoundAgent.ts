// Adds an agent of this machine to the user's settings and starts a session with it.
import { l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { at, own } from '../../base/untrusted';
import type { AgentEntries } from './agentEntries';
import type { AgentRegistry } from './agentRegistry';
import type { FoundAgent } from './foundAgents';
import { useVersion } from './installedEntries';
import { type Ask, installAgent } from './installFlow';
import { startSession } from './startSession';

/**
 * Uses the user's entry for the program, or adds one; installs an adapter if needed and agreed.
 * @throws ParleyError `no-adapter`, or as {@link installAgent}
 */
export async function useFoundAgent(found: FoundAgent, registry: AgentRegistry, ask?: Ask): Promise<void> {
  if (found.adapters) return useAdapter(found, found.adapters, registry, ask);
  return useProgram(found, registry.entries);
}

async function useProgram({ id, name, command, args }: FoundAgent, entries: AgentEntries): Promise<void> {
  const all = entries.all();
  if (at(own(all, id), 'command') === command) return startSession(id);
  const free = entries.freeId(id);
  await entries.set(free, { name, command, args });
  await startSession(free);
}

async function useAdapter(
  { name }: FoundAgent,
  adapters: readonly string[],
  registry: AgentRegistry,
  ask: Ask | undefined,
): Promise<void> {
  for (const id of adapters) {
    const versions = await registry.installer.installed.versions(id);
    const [newest] = versions;
    if (newest) return startSession(await useVersion(newest, versions, registry.entries));
  }
  const { agents } = await registry.load(new AbortController().signal);
  const adapter = agents.find(({ id }) => adapters.includes(id));
  if (!adapter) {
    throw new ParleyError('no-adapter', l10n.t("The agent registry doesn't list an adapter for {0}.", name), {
      hint: l10n.t('Install the adapter yourself, then add it with Parley: Manage Agents….'),
    });
  }
  await installAgent(adapter, registry, ask);
}
