// Opens the settings where they take effect: in a remote window agents run on the remote machine, and
// its settings are the ones that count.
import { commands, env } from 'vscode';

/** Opens the settings editor. @param query what it searches for, by default all settings of Parley */
export async function openSettings(query = '@ext:parley.parley'): Promise<void> {
  if (env.remoteName === undefined) await commands.executeCommand('workbench.action.openSettings', query);
  else await commands.executeCommand('workbench.action.openRemoteSettings', { query });
}

/** Opens the settings file at `parley.agents`, which the settings editor cannot edit. */
export async function openAgentSettings(): Promise<void> {
  const file = env.remoteName === undefined ? 'openSettingsJson' : 'openRemoteSettingsFile';
  await commands.executeCommand(`workbench.action.${file}`, { revealSetting: { key: 'parley.agents', edit: true } });
}
