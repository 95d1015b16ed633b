// Suggests the agents on this machine while the demo is the only agent.
import { type Disposable, workspace } from 'vscode';
import { DisposableStore } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import { Emitter } from '../../base/event';
import type { Log } from '../../base/log';
import type { FirstUseView } from '../../panel/contract';
import { type AgentCatalog, DEMO_AGENT_ID } from '../config/agentCatalog';
import type { FoundAgent, FoundAgents } from './foundAgents';

export interface FirstUseOptions {
  readonly catalog: Pick<AgentCatalog, 'own'>;
  readonly found: FoundAgents;
  readonly use: (agent: FoundAgent) => Promise<void>;
  readonly log: Log;
}

export class FirstUse implements Disposable {
  readonly #options: FirstUseOptions;
  readonly #didChange = new Emitter<void>();
  readonly #lifetime = new DisposableStore();

  constructor(options: FirstUseOptions) {
    this.#options = options;
    const changed = (): void => this.#didChange.fire();
    this.#lifetime.add(this.#didChange);
    this.#lifetime.add(options.found.onDidChange(changed));
    this.#lifetime.add(workspace.onDidGrantWorkspaceTrust(changed));
    this.#lifetime.add(
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('parley.agents')) changed();
      }),
    );
  }

  readonly onDidChange = this.#didChange.event;

  get view(): FirstUseView | undefined {
    if (!this.#isFirst) return undefined;
    const { agents } = this.#options.found;
    return {
      agents: (agents ?? []).map(({ id, name, version }) => ({ id, name, version })),
      isSearching: agents === undefined,
    };
  }

  look(): void {
    const { found, log } = this.#options;
    if (!this.#isFirst || found.agents !== undefined) return;
    found.look().catch((error: unknown) => log.warn(`Looking for agents failed: ${messageOf(error)}`));
  }

  async use(id: string): Promise<void> {
    const agent = this.#options.found.agents?.find((one) => one.id === id);
    if (agent) await this.#options.use(agent);
  }

  dispose(): void {
    this.#lifetime.dispose();
  }

  get #isFirst(): boolean {
    return workspace.isTrusted && this.#options.catalog.own().every(({ id }) => id === DEMO_AGENT_ID);
  }
}
