// The MCP servers that a session gets: those of the user's settings, and those of the workspace's .vscode/mcp.json, once the user has agreed to that very file.
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { type ExtensionContext, FileType, l10n, Uri, type WorkspaceFolder, window, workspace } from 'vscode';
import type { AgentDefinition } from '../agents/agentDefinition';
import { resolveCommand } from '../agents/resolveCommand';
import { messageOf, ParleyError } from '../base/errors';
import { parseJsonc } from '../base/jsonc';
import type { Log } from '../base/log';
import { describeEntry, type McpConfig, parseMcpConfig, toMcpServers } from '../client/mcpConfig';
import type { McpOffer } from '../client/mcpOffer';
import { McpInputs } from './mcpInputs';
import { mcpServersSetting, usesWorkspaceMcp } from './settings';

const DECISIONS = 'parley.mcp.decisions';
/** Decisions that are remembered, and the largest file that is read, in bytes. */
const MAX_DECISIONS = 50;
const MAX_FILE = 1024 * 1024;

export interface McpServersOptions {
  readonly context: ExtensionContext;
  readonly environment: (command?: string) => Promise<Record<string, string>>;
  readonly log: Log;
  /** Asks instead of VS Code's modal dialog. Undefined: not decided. */
  readonly agree?: (text: string, detail: string) => Promise<boolean | undefined>;
}

export class McpServers {
  readonly #options: McpServersOptions;
  readonly #inputs: McpInputs;
  /** Questions that are open, by the hash of what they are about: sessions that start together ask once. */
  readonly #asking = new Map<string, Promise<boolean>>();

  constructor(options: McpServersOptions) {
    this.#options = options;
    this.#inputs = new McpInputs(options.context);
  }

  /** The servers for a session in `cwd`. What cannot be used is told in sentences. */
  readonly gather = async (agent: AgentDefinition, cwd: string): Promise<McpOffer> => {
    const sources: { readonly id: string; readonly folder: string; readonly config: McpConfig }[] = [];
    const own = parseMcpConfig({ servers: mcpServersSetting() });
    if (own.entries.length > 0 || own.problems.length > 0)
      sources.push({ id: 'parley.mcpServers', folder: cwd, config: own });
    if (workspace.isTrusted && usesWorkspaceMcp()) {
      for (const folder of workspace.workspaceFolders ?? []) {
        const config = await this.#ofFolder(folder, agent);
        if (config) sources.push({ id: folder.uri.toString(), folder: folder.uri.fsPath, config });
      }
    }
    const offer: { servers: McpOffer['servers'][number][]; problems: string[] } = { servers: [], problems: [] };
    const names = new Set<string>();
    for (const { id, folder, config } of sources) {
      const entries = config.entries.filter(({ name }) => !names.has(name));
      for (const { name } of entries) names.add(name);
      const environment = await this.#options.environment();
      const { servers, problems } = await toMcpServers(entries, {
        workspaceFolder: folder,
        userHome: homedir(),
        env: environment,
        input: (input) => this.#inputs.ask(id, input, config.inputs),
        resolve: (command) => resolveServerCommand(command, folder, environment),
      });
      offer.servers.push(...servers);
      offer.problems.push(...config.problems, ...problems);
    }
    return offer;
  };

  /** Forgets what the user agreed to and answered. */
  async reset(): Promise<void> {
    await this.#options.context.workspaceState.update(DECISIONS, undefined);
    await this.#inputs.reset();
  }

  /** What a folder's mcp.json has, where the user agrees to it. */
  async #ofFolder(folder: WorkspaceFolder, agent: AgentDefinition): Promise<McpConfig | undefined> {
    const uri = Uri.joinPath(folder.uri, '.vscode', 'mcp.json');
    const text = await readSmallFile(uri);
    if (text === undefined) return undefined;
    let config: McpConfig;
    try {
      config = parseMcpConfig(parseJsonc(text));
    } catch (error) {
      return { entries: [], inputs: [], problems: [`${uri.fsPath} cannot be read: ${messageOf(error)}.`] };
    }
    if (config.entries.length === 0) return config;
    return (await this.#agreed(uri, text, config, agent)) ? config : undefined;
  }

  async #agreed(uri: Uri, text: string, config: McpConfig, agent: AgentDefinition): Promise<boolean> {
    const { workspaceState } = this.#options.context;
    const hash = createHash('sha256').update(uri.toString()).update('\0').update(text).digest('hex');
    const known = workspaceState.get<Record<string, boolean>>(DECISIONS, {})[hash];
    if (known !== undefined) return known;
    const asking = this.#asking.get(hash) ?? this.#ask(hash, config, agent);
    this.#asking.set(hash, asking);
    return asking.finally(() => this.#asking.delete(hash));
  }

  async #ask(hash: string, config: McpConfig, agent: AgentDefinition): Promise<boolean> {
    const { context, log, agree = askInDialog } = this.#options;
    const text = l10n.t('Hand the MCP servers of this workspace to {0}?', agent.name);
    const why = l10n.t(
      'Its file .vscode/mcp.json names programs that the agent will start, or addresses to connect to:',
    );
    const answer = await agree(text, `${why}\n\n${config.entries.map(describeEntry).join('\n')}`);
    if (answer === undefined) {
      log.info('MCP servers of the workspace were not handed over: not decided');
      return false;
    }
    const decisions = Object.entries(context.workspaceState.get<Record<string, boolean>>(DECISIONS, {}));
    await context.workspaceState.update(
      DECISIONS,
      Object.fromEntries([...decisions.slice(1 - MAX_DECISIONS), [hash, answer]]),
    );
    return answer;
  }
}

async function askInDialog(text: string, detail: string): Promise<boolean | undefined> {
  const yes = l10n.t('Hand Over');
  const no = l10n.t("Don't Hand Over");
  const answer = await window.showInformationMessage(text, { modal: true, detail }, yes, no);
  return answer === undefined ? undefined : answer === yes;
}

/** The protocol wants an absolute path. */
async function resolveServerCommand(
  command: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  try {
    return await resolveCommand(command, { cwd, env });
  } catch (error) {
    // The hint of an agent's command names another setting.
    throw new ParleyError('mcp-command', `the command “${command}” was not found or cannot be run`, { cause: error });
  }
}

async function readSmallFile(uri: Uri): Promise<string | undefined> {
  try {
    const { type, size } = await workspace.fs.stat(uri);
    if ((type & FileType.File) === 0 || size > MAX_FILE) return undefined;
    return new TextDecoder().decode(await workspace.fs.readFile(uri));
  } catch {
    return undefined; // mostly there is none
  }
}
