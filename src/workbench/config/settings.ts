// Reads the settings `parley.*` when they are needed, so that no copy is out of date, and opens
// them.
import { commands, env, workspace } from 'vscode';
import { userValue } from './folderSettings';

const SECTION = 'parley';

function read<T>(key: string, fallback: T): T {
  return workspace.getConfiguration(SECTION).get<T>(key) ?? fallback;
}

export function defaultAgentId(): string | undefined {
  return read<string>('defaultAgent', '') || undefined;
}

/** How long an agent may take for each slow step of its start, in milliseconds. */
export function startTimeoutMs(): number {
  const seconds = read<number>('startTimeout', 90);
  return Math.max(1, Number.isFinite(seconds) ? seconds : 90) * 1000;
}

/**
 * Returns whether the workspace's .vscode/mcp.json may be handed over, where the user agrees to it.
 * A folder cannot turn on what the user has turned off.
 */
export function usesWorkspaceMcp(): boolean {
  return userValue('mcp.useWorkspace') !== false && read<boolean>('mcp.useWorkspace', true) === true;
}

export function afterCancel(): 'pause' | 'continue' {
  return read<string>('queue.afterCancel', 'pause') === 'continue' ? 'continue' : 'pause';
}

/** Returns whether an agent that exits unexpectedly is restarted automatically. */
export function restartsAgents(): boolean {
  return read<boolean>('recovery.restart', true) !== false;
}

/** Returns whether what turns change on disk is recorded. */
export function recordsChanges(): boolean {
  return read<boolean>('changes.enabled', true) !== false;
}

/** Returns whether what waits for review is shown in the source control view and in the gutter. */
export function showsSourceControl(): boolean {
  return read<boolean>('changes.sourceControl', true) !== false;
}

/** What happens with new problems in the files that a turn changed. */
export function problemsAfterTurn(): 'off' | 'show' | 'send' {
  const value = read<string>('problemsAfterTurn', 'show');
  return value === 'off' || value === 'send' ? value : 'show';
}

/** The last line of commit messages, in which `{agent}` is the agent's name; '': none. */
export function commitTrailer(): string {
  return read<string>('commitTrailer', '');
}

/**
 * How long an agent may be idle before its process is ended, in milliseconds; undefined: forever.
 */
export function idleLimitMs(): number | undefined {
  const minutes = read<number>('idleMinutes', 30);
  return Number.isFinite(minutes) && minutes > 0 ? minutes * 60_000 : undefined;
}

/** Whether an agent is started ahead for the next new session. */
export function keepsWarmAgent(): boolean {
  return read<boolean>('warmAgent', false) === true;
}

/** What notifications tell of while the chat is not in sight. */
export function notificationSetting(): 'off' | 'questions' | 'all' {
  const value = read<string>('notifications', 'all');
  return value === 'off' || value === 'questions' ? value : 'all';
}

/** Whether notifications have a sound. */
export function notificationSound(): boolean {
  return read<boolean>('notificationSound', false) === true;
}

/** What is kept of old sessions. */
export function historyLimits(): { readonly maxAgeDays: number; readonly maxBytes: number } {
  const days = read<number>('history.maxAgeDays', 180);
  const megabytes = read<number>('history.maxMegabytes', 2048);
  return { maxAgeDays: Math.max(1, days), maxBytes: Math.max(10, megabytes) * 1024 * 1024 };
}

/**
 * What the local server serves. `port` 0: a free one. `publicUrl` as it is written: an address,
 * `auto`, or nothing.
 */
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

/** What becomes of agents when the window ends: `parley.background`. */
export function backgroundPolicy(): 'off' | 'finishTurn' | 'keep' {
  const value = read<unknown>('background', 'finishTurn');
  return value === 'off' || value === 'keep' ? value : 'finishTurn';
}

/** Queues go on whose sessions have no window: `parley.queue.inBackground`, with agents that are kept. */
export function queuesInBackground(): boolean {
  return backgroundPolicy() === 'keep' && read<unknown>('queue.inBackground', false) === true;
}

/** The address of the registry of agents, as it is written; undefined where there is to be none. */
export function registryUrl(): string | undefined {
  return String(read<unknown>('registry.url', '')).trim() || undefined;
}

/** The npm registry that Mermaid is downloaded from; undefined where it is not to be downloaded. */
export function diagramRegistry(): string | undefined {
  return String(read<unknown>('diagrams.registry', '')).trim() || undefined;
}

/** Where the messages of sessions are kept: `parley.resources`, unread. */
export function resourcesSetting(): unknown {
  return read<unknown>('resources', { type: 'local' });
}

/** Settings of the whole application, which VS Code does not list among those of a remote machine. */
const OF_APPLICATION = 'parley.history';

/**
 * Opens the settings editor, in a remote window for the settings of that machine.
 * @param query what it searches for, by default all settings of Parley
 */
export async function openSettings(query = '@ext:parley.parley'): Promise<void> {
  const isLocal = env.remoteName === undefined || query.startsWith(OF_APPLICATION);
  if (isLocal) await commands.executeCommand('workbench.action.openSettings', query);
  else await commands.executeCommand('workbench.action.openRemoteSettings', { query });
}

/** Opens the settings file at `parley.agents`, which the settings editor cannot edit. */
export async function openAgentSettings(): Promise<void> {
  await openSettingsFile('parley.agents');
}

/** Opens the settings file at `parley.permissions`. */
export async function openPermissionSettings(): Promise<void> {
  await openSettingsFile('parley.permissions');
}

async function openSettingsFile(key: string): Promise<void> {
  const file = env.remoteName === undefined ? 'openSettingsJson' : 'openRemoteSettingsFile';
  await commands.executeCommand(`workbench.action.${file}`, { revealSetting: { key, edit: true } });
}
