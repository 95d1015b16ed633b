// Starts a session with an agent that has been added.
import { commands } from 'vscode';

/** Starts a session with a configured agent, and makes it the default for new sessions. */
export async function startSession(agent: string): Promise<void> {
  await commands.executeCommand('parley.selectAgent', { agent });
}
