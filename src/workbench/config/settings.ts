// Reads the `parley.*` settings on demand, so that no copy gets stale, and opens them.
import { commands, env, workspace } from 'vscode';
import type { AwakePolicy } from '../../agents/awake';
import { userValue } from './folderSettings';

const SECTION = 'parley';

function read<T>(key: string, fallback: T): T {
  return workspace.getConfiguration(SECTION).get<T>(key) ?? fallback;
}

export function defaultAgentId(): string | undefined {
  return read<string>('defaultAgent', '') || undefined;
}

/** For each slow step, ms. */
export function startTimeoutMs(): number {
  const seconds = read<number>('startTimeout', 90);
  return Math.max(1, Number.isFinite(seconds) ? seconds : 90) * 1000;
}

/** A folder can't enable what the user has disabled. */
export function usesWorkspaceMcp(): boolean {
  return userValue('mcp.useWorkspace') !== false && read<boolean>('mcp.useWorkspace', true) === true;
}

export function afterCancel(): 'pause' | 'continue' {
  return read<string>('queue.afterCancel', 'pause') === 'continue' ? 'continue' : 'pause';
}

export function restartsAgents(): boolean {
  return read<boolean>('recovery.restart', true) !== false;
}

export function recordsChanges(): boolean {
  return read<boolean>('changes.enabled', true) !== false;
}

export function showsSourceControl(): boolean {
  return read<boolean>('changes.sourceControl', true) !== false;
}

export function problemsAfterTurn(): 'off' | 'show' | 'send' {
  const value = read<string>('problemsAfterTurn', 'show');
  return value === 'off' || value === 'send' ? value : 'show';
}

/** `{agent}` stands for the agent's name; '': none. */
export function commitTrailer(): string {
  return read<string>('commitTrailer', '');
}

/** ms; undefined: forever. */
export function idleLimitMs(): number | undefined {
  const minutes = read<number>('idleMinutes', 30);
  return Number.isFinite(minutes) && minutes > 0 ? minutes * 60_000 : undefined;
}

export function keepsWarmAgent(): boolean {
  return read<boolean>('warmAgent', false) === true;
}

export function keepAwake(): AwakePolicy {
  const value = read<string>('keepAwake', 'onPower');
  return value === 'off' || value === 'always' ? value : 'onPower';
}

export function notificationSetting(): 'off' | 'questions' | 'all' {
  const value = read<string>('notifications', 'all');
  return value === 'off' || value === 'questions' ? value : 'all';
}

export function notificationSound(): boolean {
  return read<boolean>('notificationSound', false) === true;
}

export function promptSuggestions(): 'auto' | 'on' | 'off' {
  const value = read<string>('promptSuggestions', 'auto');
  return value === 'on' || value === 'off' ? value : 'auto';
}

export function historyLimits(): { readonly maxAgeDays: number; readonly maxBytes: number } {
  const days = read<number>('history.maxAgeDays', 180);
  const megabytes = read<number>('history.maxMegabytes', 2048);
  return { maxAgeDays: Math.max(1, days), maxBytes: Math.max(10, megabytes) * 1024 * 1024 };
}

/** `port` 0: any free port. `publicUrl`: an address, `auto`, or ''. */
export function serverSettings(): {
  readonly enabled: boolean;
  readonly agents: readonly string[];
  readonly port: number;
  readonly publicUrl: string;
} {
  const agents = read<unknown>('server.agents', []);
  const port = read<number>('server.port', 0);
  return {
    enabled: read<boolean>('server.enabled', false) === true,
    agents: Array.isArray(agents) ? agents.filter((id) => typeof id === 'string') : [],
    port: Number.isInteger(port) && port >= 0 && port <= 65535 ? port : 0,
    publicUrl: String(read<unknown>('server.publicUrl', '')).trim(),
  };
}

export function backgroundPolicy(): 'off' | 'finishTurn' | 'keep' {
  const value = read<unknown>('background', 'finishTurn');
  return value === 'off' || value === 'keep' ? value : 'finishTurn';
}

/** Requires agents that are kept running. */
export function queuesInBackground(): boolean {
  return backgroundPolicy() === 'keep' && read<unknown>('queue.inBackground', false) === true;
}

export function registryUrl(): string | undefined {
  return String(read<unknown>('registry.url', '')).trim() || undefined;
}

export function resourcesSetting(): unknown {
  return read<unknown>('resources', { type: 'local' });
}

/** Application settings: VS Code doesn't list them among those of a remote machine. */
const OF_APPLICATION = 'parley.history';

/** In a remote window, opens the remote settings. @param query default: all settings of Parley */
export async function openSettings(query = '@ext:parley.parley'): Promise<void> {
  const isLocal = env.remoteName === undefined || query.startsWith(OF_APPLICATION);
  if (isLocal) await commands.executeCommand('workbench.action.openSettings', query);
  else await commands.executeCommand('workbench.action.openRemoteSettings', { query });
}

export async function openAgentSettings(): Promise<void> {
  await openSettingsFile('parley.agents');
}

export async function openPermissionSettings(): Promise<void> {
  await openSettingsFile('parley.permissions');
}

async function openSettingsFile(key: string): Promise<void> {
  const file = env.remoteName === undefined ? 'openSettingsJson' : 'openRemoteSettingsFile';
  await commands.executeCommand(`workbench.action.${file}`, { revealSetting: { key, edit: true } });
}
