// Adds an agent of this machine to the user's settings and starts a session with it.
import { commands } from 'vscode';
import { at, own } from '../../base/untrusted';
import type { AgentEntries } from './agentEntries';
import type { FoundAgent } from './foundAgents';

/** Uses the user's entry for the same program, or adds one. */
export async function useFoundAgent({ id, name, command, args }: FoundAgent, entries: AgentEntries): Promise<void> {
  const all = entries.all();
  if (at(own(all, id), 'command') === command) return startSession(id);
  const free = entries.freeId(id);
  await entries.set(free, { name, command, args });
  await startSession(free);
}

/** Starts a session with a configured agent, and makes it the default for new sessions. */
export async function startSession(agent: string): Promise<void> {
  await commands.executeCommand('parley.selectAgent', { agent });
}
