// Adds agents from the settings of other editors and extensions. Starts nothing.
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { l10n, workspace } from 'vscode';
import { type ImportedAgent, readAgents } from '../../agents/agentImport';
import { parseSettings } from '../../agents/settingsText';
import { messageOf } from '../../base/errors';
import { at } from '../../base/untrusted';
import { pickSome } from '../ui/input';
import { showInfo } from '../ui/messages';
import { startText } from './agentPage';
import { addEntry, type EditorServices, type Page } from './pages';

/** Maximum size of a file to read, in bytes. */
const MAX_FILE = 1024 * 1024;

interface Source {
  readonly name: string;
  readonly agents: unknown;
  readonly problem?: string;
}

const EXTENSIONS: readonly (readonly [name: string, key: string])[] = [
  ['ACP Client', 'acp.agents'],
  ['ACP Plugin', 'agent_servers'],
  ['ACP Plugin', 'acp.agentServers'],
  ['ACP Plugin', 'acp.agent_servers'],
  ['VSCode ACP Chat', 'vscode-acp-chat.customAgents'],
];

export interface ImportPlaces {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

const HERE: ImportPlaces = { home: homedir(), env: process.env, platform: process.platform };

export function importPage(services: EditorServices, back: Page, places = HERE): Page {
  return async () => {
    const { entries } = services.registry;
    const sources = [...(await filesOf(places)), ...extensionSettings()];
    const read = sources.map(({ name, agents }) => ({ name, ...readAgents(agents) }));
    const problems = sources.flatMap(({ problem }) => problem ?? []);
    const skipped = [...problems, ...read.flatMap((source) => source.skipped)];
    const known = Object.values(entries.all());
    const found = read
      .flatMap(({ name, agents }) => agents.map((imported) => ({ name, imported })))
      .filter(({ imported }) => !known.some((entry) => isSame(entry, imported)));
    if (found.length === 0) {
      const text = l10n.t('No other agents were found in the settings of Zed, JetBrains or other extensions.');
      void showInfo([text, ...skipped].join(' '));
      return back;
    }
    const items = found.map(({ name, imported }, index) => ({
      id: String(index),
      label: imported.agent.name,
      description: name,
      detail: detailOf(imported),
    }));
    const chosen = await pickSome(items, l10n.t('Select the agents to add. Nothing is started.'));
    if (!chosen || chosen.length === 0) return back;
    const picked = found.filter((_one, index) => chosen.includes(String(index)));
    let secrets = 0;
    for (const { imported } of picked) secrets += await add(imported, services);
    void showInfo(
      [
        picked.length === 1 ? l10n.t('Added 1 agent.') : l10n.t('Added {0} agents.', picked.length),
        ...(secrets === 1 ? [l10n.t('Saved 1 key in the secret storage.')] : []),
        ...(secrets > 1 ? [l10n.t('Saved {0} keys in the secret storage.', secrets)] : []),
        ...skipped,
      ].join(' '),
    );
    return back;
  };
}

async function add({ id, agent, entry, variables, headers }: ImportedAgent, services: EditorServices): Promise<number> {
  const { keys, registry, remote } = services;
  const free = registry.entries.freeId(id);
  await addEntry(free, entry, services);
  const added = { ...agent, id: free };
  for (const [name, value] of Object.entries(variables)) await keys.save(added, { kind: 'variable', name }, value);
  if (agent.type !== 'process')
    for (const [name, value] of Object.entries(headers)) await remote.save(new URL(agent.url).origin, name, value);
  return Object.keys(variables).length + Object.keys(headers).length;
}

function detailOf({ agent, variables, headers }: ImportedAgent): string {
  const secrets = [...Object.keys(variables), ...Object.keys(headers)];
  const start = startText(agent);
  return secrets.length === 0 ? start : l10n.t('{0} · {1} goes to the secret storage', start, secrets.join(', '));
}

function isSame(entry: unknown, { entry: imported }: ImportedAgent): boolean {
  return (['command', 'url', 'args'] as const).every((key) =>
    isDeepStrictEqual(at(entry, key) ?? [], at(imported, key) ?? []),
  );
}

async function filesOf({ home, env, platform }: ImportPlaces): Promise<readonly Source[]> {
  const zed =
    platform === 'win32'
      ? join(env.APPDATA ?? join(home, 'AppData', 'Roaming'), 'Zed')
      : join((platform !== 'darwin' && env.XDG_CONFIG_HOME) || join(home, '.config'), 'zed');
  const files: readonly (readonly [name: string, path: string])[] = [
    ['Zed', join(zed, 'settings.json')],
    ...(platform === 'linux'
      ? [['Zed (Flatpak)', join(home, '.var/app/dev.zed.Zed/config/zed/settings.json')] as const]
      : []),
    ['JetBrains', join(home, '.jetbrains', 'acp.json')],
  ];
  const read = files.map(async ([name, path]): Promise<readonly Source[]> => {
    const found = await stat(path).catch(() => undefined);
    if (!found) return [];
    if (found.size > MAX_FILE)
      return [{ name, agents: undefined, problem: l10n.t('{0} was not read: it is larger than 1 MB.', path) }];
    try {
      const { value, errorLine } = parseSettings(await readFile(path, 'utf8'));
      const problem =
        errorLine === undefined
          ? undefined
          : l10n.t('{0} has an error in line {1}: agents behind it may be missing.', path, errorLine);
      return [{ name, agents: at(value, 'agent_servers'), problem }];
    } catch (error) {
      return [{ name, agents: undefined, problem: l10n.t("Couldn't read {0}: {1}", path, messageOf(error)) }];
    }
  });
  return (await Promise.all(read)).flat();
}

/** Returns settings of the user, never of a workspace. */
function extensionSettings(): readonly Source[] {
  return EXTENSIONS.map(([name, key]) => ({ name, agents: workspace.getConfiguration().inspect(key)?.globalValue }));
}
