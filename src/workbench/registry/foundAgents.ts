// Finds agents installed on this machine, when a list of them is shown.

import { isDeepStrictEqual } from 'node:util';
import { workspace } from 'vscode';
import { Configured, Part } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import { Emitter } from '../../base/event';
import type { Log } from '../../base/log';
import type { FirstUseView } from '../../panel/contract';
import { type FoundProgram, findAgents, versionOf } from '../../registry/discover/findAgents';
import { type AgentCatalog, DEMO_AGENT_ID } from '../config/agentCatalog';

export interface FoundAgent extends FoundProgram {
  readonly version?: string;
}

interface FoundAgentsOptions {
  readonly log: Log;
  readonly environment: (command?: string) => Promise<Record<string, string>>;
}

/** Runs one search at a time, and none in an untrusted workspace. */
export class FoundAgents extends Configured<FoundAgentsOptions> {
  readonly #didChange = new Emitter<void>();
  #agents: readonly FoundAgent[] | undefined;
  #search: Promise<readonly FoundAgent[]> | undefined;

  readonly onDidChange = this.#didChange.event;

  get agents(): readonly FoundAgent[] | undefined {
    return this.#agents;
  }

  search(): Promise<readonly FoundAgent[]> {
    this.#search ??= this.#runSearch().finally(() => {
      this.#search = undefined;
    });
    return this.#search;
  }

  dispose(): void {
    this.#didChange.dispose();
  }

  async #runSearch(): Promise<readonly FoundAgent[]> {
    if (!workspace.isTrusted) return [];
    const { environment, log } = this.options;
    const env = await environment('agents');
    const except = (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    const programs = await findAgents({ env, except });
    const knownVersions = new Map(this.#agents?.map(({ path, version }) => [path, version]));
    const listed = (): readonly FoundAgent[] =>
      programs.map((program) => {
        const version = knownVersions.get(program.path);
        return { ...program, version };
      });
    this.#set(listed());
    // Sequentially: starting many programs in parallel would slow down the chat.
    for (const program of programs) {
      const version = await versionOf(program, { env, log });
      if (knownVersions.get(program.path) === version) continue;
      knownVersions.set(program.path, version);
      this.#set(listed());
    }
    return listed();
  }

  #set(agents: readonly FoundAgent[]): void {
    if (isDeepStrictEqual(this.#agents, agents)) return;
    this.#agents = agents;
    this.#didChange.fire();
  }
}

interface FirstUseOptions {
  readonly catalog: Pick<AgentCatalog, 'own'>;
  readonly found: FoundAgents;
  readonly use: (agent: FoundAgent) => Promise<void>;
  readonly log: Log;
}

export class FirstUse extends Part<FirstUseOptions> {
  readonly #didChange = new Emitter<void>();

  constructor(options: FirstUseOptions) {
    super(options);
    const changed = (): void => this.#didChange.fire();
    this.own(this.#didChange);
    this.own(options.found.onDidChange(changed));
    this.own(workspace.onDidGrantWorkspaceTrust(changed));
    this.own(
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('parley.agents')) changed();
      }),
    );
  }

  readonly onDidChange = this.#didChange.event;

  get view(): FirstUseView | undefined {
    if (!this.#isFirst) return undefined;
    const { agents } = this.options.found;
    return {
      agents: (agents ?? []).map(({ id, name, version }) => ({ id, name, version })),
      isSearching: agents === undefined,
    };
  }

  look(): void {
    const { found, log } = this.options;
    if (!this.#isFirst || found.agents !== undefined) return;
    found.search().catch((error: unknown) => log.warn(`Looking for agents failed: ${messageOf(error)}`));
  }

  async use(id: string): Promise<void> {
    const agent = this.options.found.agents?.find((one) => one.id === id);
    if (agent) await this.options.use(agent);
  }

  get #isFirst(): boolean {
    return workspace.isTrusted && this.options.catalog.own().every(({ id }) => id === DEMO_AGENT_ID);
  }
}
