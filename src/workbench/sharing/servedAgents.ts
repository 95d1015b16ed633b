// The agents of the settings that are served to others: those that the user named, and only
// programs on this machine. The user of this machine is never asked by a remote caller, so whatever
// would need an answer here is refused.
import { l10n } from 'vscode';
import { missingFileReadsEmpty } from '../../acp/quirks/gemini';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { ParleyError } from '../../base/errors';
import type { Log } from '../../base/log';
import { Conversation } from '../../client/conversation/conversation';
import type { ConversationServices } from '../../client/conversation/conversationOptions';
import { AgentFiles } from '../../client/requests/agentFiles';
import { ServedConversations, servedName } from '../../client/serving/servedConversations';
import type { ServedAgent } from '../../distributed/server/servedAgent';
import type { AgentCatalog } from '../config/agentCatalog';
import { EditorFiles } from '../editor/editorFiles';
import { sessionFolders } from '../sessions/sessionFolders';

export interface ServedAgentsOptions {
  readonly catalog: AgentCatalog;
  readonly services: ConversationServices;
  readonly scratch: string;
  readonly log: Log;
}

export class ServedAgents {
  readonly #options: ServedAgentsOptions;
  readonly #services: ConversationServices;
  readonly #served = new Map<string, ServedConversations>();

  constructor(options: ServedAgentsOptions) {
    this.#options = options;
    this.#services = withoutQuestions(options);
  }

  get list(): readonly ServedAgent[] {
    return [...this.#served.values()];
  }

  /**
   * Serves these agents; others end with their sessions.
   * @returns a sentence for each that cannot be served
   */
  choose(ids: readonly string[]): readonly string[] {
    const problems: string[] = [];
    const wanted = new Set<string>();
    for (const id of ids) {
      const agent = this.#own(id);
      if (agent?.type === 'process') wanted.add(id);
      else
        problems.push(
          agent
            ? l10n.t("“{0}” isn't served because it doesn't run on this machine.", id)
            : l10n.t("“{0}” isn't served because there is no such agent.", id),
        );
    }
    for (const [id, served] of this.#served) {
      if (wanted.has(id)) continue;
      this.#served.delete(id);
      served.dispose();
    }
    for (const id of wanted) if (!this.#served.has(id)) this.#served.set(id, this.#serve(id));
    return problems;
  }

  async closeAll(): Promise<void> {
    const served = [...this.#served.values()];
    this.#served.clear();
    await Promise.all(served.map((one) => one.closeAll()));
  }

  /** What a file of a workspace defines is not served. */
  #own(id: string): AgentDefinition | undefined {
    return this.#options.catalog.own().find((agent) => agent.id === id);
  }

  #serve(id: string): ServedConversations {
    const { log, scratch } = this.#options;
    const name = servedName(id, new Set([...this.#served.values()].map((served) => served.name)));
    return new ServedConversations({
      name,
      description: `${this.#own(id)?.name ?? id}, served by Parley.`,
      log,
      create: (key, state) => {
        const agent = this.#own(id);
        if (agent?.type !== 'process') throw new ParleyError('not-served', 'The agent is no longer served.');
        const { cwd, roots } = sessionFolders(undefined, scratch);
        const services = { ...this.#services, agentState: () => state };
        return new Conversation({ key, agent, cwd, roots, services });
      },
    });
  }
}

/**
 * Without services that ask: no MCP servers, secrets, sign-in, or access outside of the folders.
 */
function withoutQuestions({ services, catalog, log }: ServedAgentsOptions): ConversationServices {
  const { mcpServers: _mcp, editorTools: _tools, signInTerminal: _signIn, remote: _remote, ...others } = services;
  // Nobody reviews changes here, and callers answer requests: the user's rules and choices are for
  // the user's sessions.
  const { restarts: _restarts, changes: _changes, permissionRules: _rules, choices: _choices, ...rest } = others;
  const files = new EditorFiles({ log });
  return {
    ...rest,
    currentAgent: (id) => catalog.own().find((agent) => agent.id === id),
    filesFor: (agentName, initializeResult, given) =>
      new AgentFiles(
        files,
        { agentName, refusesQuestions: true, missingFileReadsEmpty: missingFileReadsEmpty(initializeResult) },
        given,
      ),
  };
}
