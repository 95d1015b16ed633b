// Which agents there are, and which one a new session gets: the one that the user set, else the last one used, else the demo.
import { type ExtensionContext, Uri } from 'vscode';
import type { AgentDefinition } from '../agents/agentDefinition';
import type { Log } from '../base/log';
import { configuredAgents, defaultAgentId } from './settings';

const LAST_USED = 'parley.lastAgent';
export const DEMO_AGENT_ID = 'demo';

export class AgentCatalog {
  readonly #context: ExtensionContext;
  readonly #log: Log;

  constructor(context: ExtensionContext, log: Log) {
    this.#context = context;
    this.#log = log;
  }

  /** The user's agents, then the demo. An own agent called "demo" takes its place. */
  list(): AgentDefinition[] {
    const { agents, problems } = configuredAgents();
    for (const problem of problems) this.#log.warn(`parley.agents: ${problem}`);
    return agents.some(({ id }) => id === DEMO_AGENT_ID) ? agents : [...agents, this.#demo()];
  }

  find(id: string): AgentDefinition | undefined {
    return this.list().find((agent) => agent.id === id);
  }

  /** The agent of a new session where nobody names one. */
  preferred(): AgentDefinition {
    const wanted = [defaultAgentId(), this.#context.globalState.get<string>(LAST_USED)];
    const agents = this.list();
    for (const id of wanted) {
      const agent = agents.find((candidate) => candidate.id === id);
      if (agent) return agent;
    }
    return agents.find(({ id }) => id === DEMO_AGENT_ID) ?? this.#demo();
  }

  /** Remembers the choice for the next session. */
  async use(id: string): Promise<void> {
    await this.#context.globalState.update(LAST_USED, id);
  }

  /** The scripted agent that ships with the extension; the Node inside VS Code runs it, so nothing else must be installed. */
  #demo(): AgentDefinition {
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
