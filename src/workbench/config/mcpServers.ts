// The MCP servers of a session: the user's, and the workspace's after consent to their content.

import { homedir } from 'node:os';
import { type ExtensionContext, FileType, l10n, Uri, workspace } from 'vscode';
import { resolveCommand } from '../../agents/resolveCommand';
import { parseSettings } from '../../agents/settingsText';
import { Configured } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable, mapForeign } from '../../base/localizable';
import { knownSecrets } from '../../base/redact';
import { own } from '../../base/untrusted';
import {
  type McpConfig,
  type McpEntry,
  type McpInput,
  type McpSource,
  parseMcpConfig,
  serverNames,
  toMcpServers,
} from '../../client/mcp/mcpConfig';
import type { McpOffer } from '../../client/mcp/mcpOffer';
import { describeStart, environmentReadBy } from '../../client/transport/describeStart';
import { askLine, pick } from '../ui/input';
import type { FolderConsent } from './folderConsent';
import { folderValues, userValue } from './folderSettings';
import { usesWorkspaceMcp } from './settings';

/** Shorter variable values are ports and names, not secrets; characters. */
const MIN_FILLED = 8;
/** Values that are public on this machine and part of every path. */
const PLAIN_VARIABLES = new Set(
  'HOME PATH USER LOGNAME SHELL PWD LANG TERM TMPDIR TEMP TMP HOSTNAME EDITOR USERPROFILE USERNAME APPDATA LOCALAPPDATA'.split(
    ' ',
  ),
);
const MAX_FILE = 1024 * 1024;

interface McpServersOptions {
  readonly context: ExtensionContext;
  readonly environment: (command?: string) => Promise<Record<string, string>>;
  readonly consent: FolderConsent;
}

interface FolderServer {
  readonly id: string;
  readonly file: string;
  readonly folder: string;
  readonly config: McpConfig;
  readonly content: string;
}

interface ConfiguredServer {
  readonly entry: McpEntry;
  /** Absent for the user's settings. */
  readonly file?: string;
  readonly isAllowed?: boolean | undefined;
}

export class McpServers extends Configured<McpServersOptions> {
  readonly #inputs: McpInputs;

  constructor(options: McpServersOptions) {
    super(options);
    this.#inputs = new McpInputs(options.context);
  }

  readonly gather = async (
    cwd: string,
    _signal?: AbortSignal,
    onAsking: (isAsking: boolean) => void = () => {},
  ): Promise<McpOffer> => {
    const asking = async <T>(answer: Promise<T>): Promise<T> => {
      onAsking(true);
      return answer.finally(() => onAsking(false));
    };
    const sources: (Pick<FolderServer, 'id' | 'folder' | 'config'> & { readonly isOfUser?: true })[] = [];
    const users = parseMcpConfig({ servers: userValue('mcpServers') ?? {} });
    if (users.entries.length > 0 || users.problems.length > 0)
      sources.push({ id: 'parley.mcpServers', folder: cwd, config: users, isOfUser: true });
    for (const found of await this.#ofWorkspace()) {
      const config = await asking(this.#agreed(found));
      sources.push({ id: found.id, folder: found.folder, config });
    }
    const offer: { servers: McpOffer['servers'][number][]; problems: McpOffer['problems'][number][] } = {
      servers: [],
      problems: [],
    };
    const names = serverNames(sources);
    const ofUser = new Set(users.entries.map((entry) => JSON.stringify(entry)));
    for (const { id, folder, config } of sources) {
      for (const entry of config.entries)
        if (!names.has(entry) && !ofUser.has(JSON.stringify(entry)))
          offer.problems.push(localizable('{0}: your settings have a server of this name.', entry.name));
      const entries = renamed(config.entries, names);
      const environment = await this.options.environment();
      for (const name of environmentReadBy(entries))
        if (!PLAIN_VARIABLES.has(name)) knownSecrets.add(own(environment, name) ?? '', MIN_FILLED);
      const { servers, problems } = await toMcpServers(entries, {
        workspaceFolder: folder,
        userHome: homedir(),
        env: environment,
        input: async (input) => {
          const value = await asking(this.#inputs.ask(id, input, config.inputs));
          if (value !== undefined) knownSecrets.add(value, MIN_FILLED);
          return value;
        },
        resolve: (command) => resolveServerCommand(command, folder, environment),
        platform: process.platform,
      });
      offer.servers.push(...servers);
      offer.problems.push(...config.problems, ...problems.map((text) => mapForeign(text, knownSecrets.redact)));
    }
    return offer;
  };

  /** Includes servers that aren't allowed. Asks nothing. */
  async configured(): Promise<readonly ConfiguredServer[]> {
    const users: McpSource = {
      folder: '',
      config: parseMcpConfig({ servers: userValue('mcpServers') ?? {} }),
      isOfUser: true,
    };
    const found = (await this.#ofWorkspace()).map((one) => ({
      ...one,
      isAllowed: this.options.consent.answerTo(`${one.id}\0${one.content}`),
    }));
    const names = serverNames([users, ...found.filter(({ isAllowed }) => isAllowed !== false)]);
    return [
      ...users.config.entries.map((entry) => ({ entry })),
      ...found.flatMap(({ file, config, isAllowed }) =>
        config.entries.map((entry) => ({ entry: { ...entry, name: names.get(entry) ?? entry.name }, file, isAllowed })),
      ),
    ];
  }

  get hasAnswers(): boolean {
    return this.options.consent.list().length > 0 || this.#inputs.hasAnswers;
  }

  async reset(): Promise<void> {
    await this.#inputs.reset();
    await this.options.consent.reset();
  }

  async #ofWorkspace(): Promise<FolderServer[]> {
    const found = folderValues('mcpServers').map(({ file, place, folder, value }): FolderServer => {
      const config = parseMcpConfig({ servers: value });
      return { id: `parley.mcpServers ${place}`, file, folder, config, content: JSON.stringify(value) };
    });
    if (!workspace.isTrusted || !usesWorkspaceMcp()) return found;
    for (const { uri: folder } of workspace.workspaceFolders ?? []) {
      const uri = Uri.joinPath(folder, '.vscode', 'mcp.json');
      const content = await readSmallFile(uri);
      if (content === undefined) continue;
      const config = read(uri, content);
      found.push({ id: folder.toString(), file: uri.fsPath, folder: folder.fsPath, config, content });
    }
    return found;
  }

  async #agreed({ id, file, config, content }: FolderServer): Promise<McpConfig> {
    if (config.entries.length === 0) return config;
    const variables = environmentReadBy(config.entries);
    const why = l10n.t('{0} defines programs that agents will start or addresses that they will connect to:', file);
    const reads = l10n.t('These environment variables are passed on: {0}', variables.join(', '));
    const detail = [
      why,
      config.entries.map(describeStart).join('\n'),
      ...(variables.length > 0 ? [reads] : []),
      l10n.t('Your choice applies to all agents until the file changes.'),
    ].join('\n\n');
    const question = l10n.t('Let agents use the MCP servers of this workspace?');
    const answer = await this.options.consent.ask({ content: `${id}\0${content}`, question, detail });
    if (answer === 'yes') return config;
    const none = { entries: [], inputs: [] };
    if (answer !== 'too-long') return { ...none, problems: [] };
    return { ...none, problems: [l10n.t("{0} is too long to review, so its servers aren't used.", file)] };
  }
}

function renamed(entries: readonly McpEntry[], names: ReadonlyMap<McpEntry, string>): McpEntry[] {
  return entries.flatMap((entry) => {
    const name = names.get(entry);
    return name === undefined ? [] : [{ ...entry, name }];
  });
}

function read(uri: Uri, text: string): McpConfig {
  try {
    const { value, errorLine } = parseSettings(text);
    if (errorLine !== undefined) throw new Error(l10n.t('error in line {0}', errorLine));
    return parseMcpConfig(value);
  } catch (error) {
    return { entries: [], inputs: [], problems: [l10n.t("Couldn't read {0}: {1}.", uri.fsPath, messageOf(error))] };
  }
}

/** The protocol requires an absolute path. */
async function resolveServerCommand(
  command: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  try {
    return await resolveCommand(command, { cwd, env });
  } catch (error) {
    // The usual hint names the setting for agents.
    throw new ParleyError('mcp-command', localizable("the command “{0}” was not found or isn't executable", command), {
      cause: error,
    });
  }
}

async function readSmallFile(uri: Uri): Promise<string | undefined> {
  try {
    const { type, size } = await workspace.fs.stat(uri);
    if ((type & FileType.File) === 0 || size > MAX_FILE) return undefined;
    return new TextDecoder().decode(await workspace.fs.readFile(uri));
  } catch {
    return undefined;
  }
}

const VALUES = 'parley.mcp.inputs';
const SECRETS = 'parley.mcp.secrets';

class McpInputs {
  readonly #context: ExtensionContext;

  constructor(context: ExtensionContext) {
    this.#context = context;
  }

  /** @param source has separate answers @returns undefined if cancelled */
  async ask(source: string, id: string, inputs: readonly McpInput[]): Promise<string | undefined> {
    const input = inputs.find((candidate) => candidate.id === id);
    const key = JSON.stringify([source, id]);
    // An undeclared input may be a secret.
    const isSecret = input ? input.password === true : true;
    const savedAnswer = isSecret ? await this.#context.secrets.get(this.#secretKey(key)) : this.#values()[key];
    if (savedAnswer !== undefined) return savedAnswer;
    const answer = await ask(id, input, isSecret);
    if (answer === undefined) return undefined;
    const { workspaceState, secrets } = this.#context;
    if (isSecret) {
      await secrets.store(this.#secretKey(key), answer);
      await workspaceState.update(SECRETS, [...new Set([...workspaceState.get<string[]>(SECRETS, []), key])]);
    } else await workspaceState.update(VALUES, { ...this.#values(), [key]: answer });
    return answer;
  }

  get hasAnswers(): boolean {
    const { workspaceState } = this.#context;
    return Object.keys(this.#values()).length > 0 || workspaceState.get<string[]>(SECRETS, []).length > 0;
  }

  async reset(): Promise<void> {
    const { workspaceState, secrets } = this.#context;
    for (const key of workspaceState.get<string[]>(SECRETS, [])) await secrets.delete(this.#secretKey(key));
    await workspaceState.update(SECRETS, undefined);
    await workspaceState.update(VALUES, undefined);
  }

  #values(): Record<string, string> {
    return this.#context.workspaceState.get<Record<string, string>>(VALUES, {});
  }

  #secretKey(key: string): string {
    return `parley.mcp.input:${key}`;
  }
}

async function ask(id: string, input: McpInput | undefined, password: boolean): Promise<string | undefined> {
  const title = l10n.t('MCP server: {0}', id);
  const prompt = input?.description ?? id;
  if (input?.type === 'pickString') {
    const options = input.options ?? [];
    const items = options.map((option, index) => ({ id: String(index), label: option }));
    const chosen = await pick(items, prompt, { title, ignoreFocusOut: true });
    return chosen === undefined ? undefined : options[Number(chosen)];
  }
  if (input !== undefined && input.type !== 'promptString') return undefined;
  return askLine({ title, prompt, secret: password, value: input?.default });
}
