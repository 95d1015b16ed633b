// The agents editor: lists the agents of this window, and adds, changes, tests and removes them.

import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { commands, l10n, workspace } from 'vscode';
import { type AgentDefinition, entryProblem } from '../../agents/agentDefinition';
import { type ImportedAgent, readAgents } from '../../agents/agentImport';
import {
  addressProblem,
  commandProblem,
  headerValueProblem,
  idFrom,
  nameProblem,
  wordsOf,
} from '../../agents/agentInput';
import { parseSettings } from '../../agents/settingsText';
import { messageOf } from '../../base/errors';
import { formatTime } from '../../base/localFormat';
import { at } from '../../base/untrusted';
import type { RegistryAgent } from '../../registry/list/registryAgent';
import { DEMO_AGENT_ID } from '../config/agentCatalog';
import type { SignInFacts, UnusedKeys } from '../config/savedKeys';
import { groupInstalled, type InstalledGroup } from '../registry/installedEntries';
import { actionsOf, newerOf, sizeText, versionText } from '../registry/installFlow';
import { askLine, pick, pickSome } from '../ui/input';
import { confirm, showInfo } from '../ui/messages';
import { askFor, HTTP_SCHEMES, openEntry, REMOTE_SCHEMES } from './agentFields';
import { agentPage, sourceText, startText } from './agentPage';
import {
  addEntry,
  after,
  type EditorServices,
  type Page,
  type PageRow,
  section,
  showPage,
  showPages,
  withIcon,
} from './pages';
import { CLIENT_PROTOCOL, COMMUNICATION_PROTOCOL } from './protocolNames';

export async function manageAgents(services: EditorServices, id?: string): Promise<void> {
  const list = listPage(services);
  await showPages(id === undefined ? list : agentPage(id, services, list));
}

interface Listed {
  readonly agent: AgentDefinition;
  readonly facts: SignInFacts;
  readonly group: InstalledGroup | undefined;
}

function listPage(services: EditorServices): Page {
  const { catalog, keys, registry } = services;
  const again: Page = async () => {
    const groups = groupInstalled(await registry.installer.installed.list(), registry.entries);
    const listed = await Promise.all(
      catalog.list().map(async (agent): Promise<Listed> => {
        const group = groups.find(({ entry }) => entry === agent.id);
        return { agent, facts: await keys.facts(agent), group };
      }),
    );
    const unused = await keys.unused(catalog.list(), Object.keys(registry.entries.all()));
    let newest: readonly RegistryAgent[] = [];
    return showPage({
      title: l10n.t('Manage Agents'),
      placeholder: l10n.t('Select an agent, or add one'),
      rows: () => [
        ...sectionsOf(listed, newest, services, again),
        ...section(l10n.t("Can't be used"), problemRows(services)),
        ...section(
          l10n.t('Installed, not in your settings'),
          groups.filter(({ entry }) => entry === undefined).map((group) => unusedRow(group, newest, services, again)),
        ),
        ...section(
          l10n.t('Saved keys without an agent'),
          unused.map((one) => unusedKeysRow(one, services, again)),
        ),
        ...section(l10n.t('Add'), addRows(services, again)),
        ...section(l10n.t('More'), moreRows(services, again)),
      ],
      load:
        groups.length > 0
          ? async (signal) => {
              newest = (await registry.load(signal)).agents;
            }
          : undefined,
    });
  };
  return again;
}

function sectionsOf(
  listed: readonly Listed[],
  newest: readonly RegistryAgent[],
  services: EditorServices,
  again: Page,
): readonly PageRow[] {
  const { catalog } = services;
  const preferred = catalog.preferred().id;
  const sources = Map.groupBy(listed, ({ agent }) => {
    const origin = catalog.originOf(agent.id);
    return origin ? sourceText(origin) : '';
  });
  return [...sources].flatMap(([source, agents]) =>
    section(
      source,
      agents.map(
        (one): PageRow => ({
          id: one.agent.id,
          label: withIcon(iconOf(one), one.agent.name),
          description: factsOf(one, newest, preferred, services.accountOf(one.agent.id)).join(' · '),
          detail: one.agent.id === DEMO_AGENT_ID ? l10n.t('scripted demo, no model') : startText(one.agent),
          go: agentPage(one.agent.id, services, again),
        }),
      ),
    ),
  );
}

function iconOf({ agent, group }: Listed): string {
  if (group) return 'package';
  return agent.type === 'process' ? 'vm' : 'globe';
}

function factsOf(
  { agent, facts, group }: Listed,
  newest: readonly RegistryAgent[],
  preferred: string,
  account: string | undefined,
): string[] {
  const newer = group && newerOf(group, newest);
  const { signedIn, keys } = facts;
  return [
    ...(agent.id === preferred ? [l10n.t('used for new sessions')] : []),
    ...(group ? [versionText(group.current), sizeText(group.size)] : []),
    ...(newer ? [l10n.t('{0} is available', versionText(newer))] : []),
    ...(account !== undefined ? [account] : []),
    ...(signedIn
      ? [l10n.t('signed in since {0}', formatTime(signedIn.at))]
      : keys.length > 0
        ? [l10n.t('key saved')]
        : []),
  ];
}

function problemRows({ registry }: EditorServices): readonly PageRow[] {
  return Object.entries(registry.entries.all()).flatMap(([id, entry]): PageRow[] => {
    const problem = entryProblem(id, entry);
    if (problem === undefined) return [];
    return [{ id: `problem ${id}`, label: withIcon('warning', id), detail: problem, go: after(() => openEntry(id)) }];
  });
}

function unusedRow(
  group: InstalledGroup,
  newest: readonly RegistryAgent[],
  { registry }: EditorServices,
  again: Page,
): PageRow {
  const { current, size } = group;
  return {
    id: `unused ${group.id}`,
    label: withIcon('package', current.name),
    description: `${versionText(current)} · ${sizeText(size)}`,
    go: async () => {
      const actions = actionsOf(group, newest, registry);
      const items = actions.map(({ icon, tooltip }) => ({ id: icon, label: withIcon(icon, tooltip) }));
      const chosen = await pick(items, current.name, { ignoreFocusOut: true });
      await actions.find(({ icon }) => icon === chosen)?.run();
      return again;
    },
  };
}

/** Keys of a removed entry, which another agent with its id would get. */
function unusedKeysRow(unused: UnusedKeys, { keys }: EditorServices, again: Page): PageRow {
  const { id, names } = unused;
  return {
    id: `keys ${unused.storageKeys[0]}`,
    label: withIcon('key', id),
    description: names.join(', '),
    detail: l10n.t('Select to delete. An agent that is added as “{0}” will be given these keys.', id),
    go: async () => {
      const question = l10n.t('Delete the saved keys of “{0}”?', id);
      if (await confirm(question, names.join(', '), l10n.t('Delete'))) {
        await keys.removeUnused(unused);
        reportDeletedKeys(names.length);
      }
      return again;
    },
  };
}

function addRows(services: EditorServices, again: Page): readonly PageRow[] {
  return [
    {
      id: 'add-listed',
      label: withIcon('add', l10n.t('Add an agent from the list…')),
      description: l10n.t('on this machine, or from the registry'),
      go: after(() => commands.executeCommand('parley.installAgent')),
    },
    {
      id: 'add-local',
      label: withIcon('vm', l10n.t('Add a program…')),
      description: l10n.t('by its command'),
      go: () => addProgram(services, again),
    },
    {
      id: 'add-remote',
      label: withIcon('globe', l10n.t('Add a remote agent…')),
      description: l10n.t('by its address'),
      go: () => addRemote(services, again),
    },
    {
      id: 'import',
      label: withIcon('cloud-download', l10n.t('Import…')),
      description: l10n.t('from Zed, JetBrains or other extensions'),
      go: importPage(services, again),
    },
  ];
}

function moreRows({ keys, remote }: EditorServices, again: Page): readonly PageRow[] {
  return [
    { id: 'json', label: withIcon('json', l10n.t('Edit in settings.json')), go: after(() => openEntry()) },
    {
      id: 'forget',
      label: withIcon('trash', l10n.t('Clear saved credentials…')),
      go: async () => {
        const detail = l10n.t('The keys of all agents and the tokens of remote agents and servers are deleted.');
        if (await confirm(l10n.t('Clear all saved credentials?'), detail, l10n.t('Delete')))
          reportDeletedKeys((await remote.forget()) + (await keys.forgetAll()));
        return again;
      },
    },
  ];
}

export function reportDeletedKeys(count: number): void {
  if (count === 0) void showInfo(l10n.t('No saved credentials.'));
  else
    void showInfo(
      count === 1 ? l10n.t('Deleted 1 saved credential.') : l10n.t('Deleted {0} saved credentials.', count),
    );
}

async function addProgram(services: EditorServices, again: Page): Promise<Page> {
  const prompt = l10n.t('Command that starts the agent, with its arguments, for example: gemini --acp');
  const line = await askFor(prompt, '', commandProblem);
  const [command, ...args] = (line && wordsOf(line)) || [];
  if (command === undefined) return again;
  const entry = { command, args: args.length > 0 ? args : undefined };
  return added(entry, programName(command, args), services, again);
}

async function addRemote(services: EditorServices, again: Page): Promise<Page> {
  const address = await askFor(l10n.t('Address of the agent, for example: wss://agents.example.com/acp'), '', (text) =>
    addressProblem(text, REMOTE_SCHEMES),
  );
  if (address === undefined) return again;
  const url = new URL(address.trim());
  const kind = HTTP_SCHEMES.some((scheme) => scheme === url.protocol) ? await askProtocol() : 'client';
  if (kind === undefined) return again;
  const agent =
    kind === 'communication' ? await askFor(l10n.t('Name of the agent on the server'), '', nameProblem) : undefined;
  if (kind === 'communication' && agent === undefined) return again;
  const token = await askLine({
    prompt: l10n.t("Token for the server, saved in VS Code's secret storage. Leave empty if the server needs none."),
    secret: true,
    validate: headerValueProblem,
  });
  if (token === undefined) return again;
  if (token !== '') await services.remote.save(url.origin, 'token', token);
  const entry = {
    ...(agent !== undefined && { type: 'communication', agent: agent.trim() }),
    url: address.trim(),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the setting has it like this
    headers: token !== '' ? { Authorization: 'Bearer ${secret:token}' } : undefined,
  };
  return added(entry, agent?.trim() ?? url.hostname, services, again);
}

function askProtocol(): Promise<string | undefined> {
  return pick(
    [
      { id: 'client', label: CLIENT_PROTOCOL, description: l10n.t('streamable HTTP') },
      { id: 'communication', label: COMMUNICATION_PROTOCOL, description: l10n.t('HTTP agent') },
    ],
    l10n.t('Select the protocol of the server'),
    { ignoreFocusOut: true },
  );
}

async function added(
  entry: Readonly<Record<string, unknown>>,
  suggested: string,
  services: EditorServices,
  again: Page,
): Promise<Page> {
  const name = (await askFor(l10n.t('Name of the agent'), suggested, nameProblem))?.trim();
  if (name === undefined) return again;
  const { entries } = services.registry;
  const id = entries.freeId(idFrom(name));
  await addEntry(id, { name, ...entry }, services);
  return agentPage(id, services, again);
}

function programName(command: string, args: readonly string[]): string {
  const program = baseName(command).replace(/\.(?:exe|cmd|js|mjs)$/i, '');
  const started = /^(?:npx|uvx|bunx|node|python3?)$/i.test(program)
    ? args.find((one) => !one.startsWith('-'))
    : undefined;
  return started === undefined
    ? program
    : baseName(started)
        .replace(/(?<=.)@.*$/, '')
        .replace(/\.[cm]?js$|\.py$/, '');
}

function baseName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

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

interface ImportPlaces {
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
      .filter(({ imported }) => !known.some((entry) => isImported(entry, imported)));
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

function isImported(entry: unknown, { entry: imported }: ImportedAgent): boolean {
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

function extensionSettings(): readonly Source[] {
  return EXTENSIONS.map(([name, key]) => ({ name, agents: workspace.getConfiguration().inspect(key)?.globalValue }));
}
