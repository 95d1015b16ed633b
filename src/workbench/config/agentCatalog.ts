// The configured agents, and the one for new sessions: the default, last used, or first one.
import { type ExtensionContext, l10n, Uri } from 'vscode';
import { type AgentDefinition, type ProcessAgent, parseAgents, withDemo } from '../../agents/agentDefinition';
import { ParleyError } from '../../base/errors';
import type { Log } from '../../base/log';
import { describeStart } from '../../client/transport/describeStart';
import type { FolderConsent } from './folderConsent';
import { folderValues, userValue } from './folderSettings';
import { type Preset, Presets } from './presets';
import { defaultAgentId } from './settings';

const LAST_USED = 'parley.lastAgent';
export const DEMO_AGENT_ID = 'demo';

export type AgentOrigin =
  | { readonly kind: 'user' }
  | { readonly kind: 'shipped' }
  | { readonly kind: 'folder'; readonly file: string; readonly ownId: string };

interface Listed {
  readonly agent: AgentDefinition;
  readonly origin: AgentOrigin;
}

export class AgentCatalog {
  readonly presets: Presets;
  readonly #context: ExtensionContext;
  readonly #log: Log;
  readonly #consent: FolderConsent;

  constructor(context: ExtensionContext, consent: FolderConsent, log: Log) {
    this.#context = context;
    this.presets = new Presets(context);
    this.#consent = consent;
    this.#log = log;
  }

  /** Returns the user's agents, the demo unless overridden, and the workspace's. */
  list(): AgentDefinition[] {
    return this.#all().map(({ agent }) => agent);
  }

  own(): AgentDefinition[] {
    return this.#all().flatMap(({ agent, origin }) => (origin.kind === 'folder' ? [] : [agent]));
  }

  /** Finds an agent by its id, or by the id in the workspace file that defines it. */
  find(id: string): AgentDefinition | undefined {
    const all = this.#all();
    const named = all.find(({ agent }) => agent.id === id);
    return (named ?? all.find(({ origin }) => origin.kind === 'folder' && origin.ownId === id))?.agent;
  }

  nameOf(id: string): string {
    return this.find(id)?.name ?? id;
  }

  originOf(id: string): AgentOrigin | undefined {
    return this.#all().find(({ agent }) => agent.id === id)?.origin;
  }

  preferred(): AgentDefinition {
    const wanted = [defaultAgentId(), this.#context.globalState.get<string>(LAST_USED)];
    for (const id of wanted) {
      const agent = id === undefined ? undefined : this.find(id);
      if (agent) return agent;
    }
    return this.#all().find(({ origin }) => origin.kind !== 'folder')?.agent ?? this.#demo();
  }

  presetOf(folder: string): Preset | undefined {
    const preset = this.presets.of(folder);
    return preset && this.find(preset.agent) && preset;
  }

  async use(id: string): Promise<void> {
    await this.#context.globalState.update(LAST_USED, id);
  }

  /** Asks once per version of a workspace's agent. @throws ParleyError `agent-not-allowed` */
  readonly approve = async (agent: AgentDefinition): Promise<void> => {
    const listed = this.#all().find((one) => one.agent.id === agent.id);
    if (listed?.origin.kind !== 'folder') return;
    const { file, ownId } = listed.origin;
    const detail = [
      l10n.t('{0} defines it as “{1}”. It runs with your permissions and receives your messages:', file, ownId),
      describeStart(agent),
      l10n.t('Your choice applies until the definition changes.'),
    ].join('\n\n');
    const question = l10n.t('Start “{0}”? This folder defines the agent.', agent.name);
    const answer = await this.#consent.ask({ content: `${file}\0${JSON.stringify(agent)}`, question, detail });
    if (answer === 'yes') return;
    const message =
      answer === 'too-long'
        ? l10n.t("{0} wasn't started because its definition is too long to review.", agent.name)
        : l10n.t("{0} wasn't started because you didn't allow it.", agent.name);
    throw new ParleyError('agent-not-allowed', message, {
      hint: l10n.t('Select another agent, or run “Parley: Manage Permissions and Approvals…” to be asked again.'),
    });
  };

  #all(): readonly Listed[] {
    const { agents, problems } = parseAgents(userValue('agents'));
    const demo = this.#demo();
    const listed: Listed[] = agents.map((agent) => ({ agent: withDemo(agent, demo), origin: { kind: 'user' } }));
    if (!agents.some(({ id }) => id === DEMO_AGENT_ID)) listed.push({ agent: demo, origin: { kind: 'shipped' } });
    const ofWorkspace = this.#ofWorkspace();
    const ids = new Set(listed.map(({ agent }) => agent.id));
    for (const one of ofWorkspace.listed) {
      if (ids.has(one.agent.id)) continue;
      ids.add(one.agent.id);
      listed.push(one);
    }
    for (const problem of [...problems, ...ofWorkspace.problems]) this.#log.warn(`parley.agents: ${problem}`);
    return listed;
  }

  #ofWorkspace(): { readonly listed: readonly Listed[]; readonly problems: readonly string[] } {
    const listed: Listed[] = [];
    const problems: string[] = [];
    for (const { file, place, value } of folderValues('agents')) {
      const parsed = parseAgents(value);
      problems.push(...parsed.problems);
      for (const agent of parsed.agents) {
        const where = place === 'workspace' ? l10n.t('from this folder') : l10n.t('from the folder {0}', place);
        const named = { ...agent, id: `${agent.id}@${place}`, name: `${agent.name} (${where})` };
        listed.push({ agent: named, origin: { kind: 'folder', file, ownId: agent.id } });
      }
    }
    return { listed, problems };
  }

  /** Runs in VS Code's own Node, so nothing else must be installed. */
  #demo(): ProcessAgent {
    return {
      id: DEMO_AGENT_ID,
      name: 'Demo',
      protocol: 'auto',
      type: 'process',
      command: process.execPath,
      args: [Uri.joinPath(this.#context.extensionUri, 'dist', 'demo', 'agent.js').fsPath],
      env: { ELECTRON_RUN_AS_NODE: '1' },
    };
  }
}
