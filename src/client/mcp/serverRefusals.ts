// Remembers which agents open no session while MCP servers are handed over, so that each version of
// an agent is asked without them only once.
import { createHash } from 'node:crypto';
import type { McpServer } from '../../acp/protocol/dialect';
import { at } from '../../base/untrusted';
import type { FactStore } from '../ports/ports';

/** `own`: the product's server. */
export type Refused = 'own' | 'all';

const MAX_ERRORS = 200;

export class ServerRefusals {
  readonly #store: FactStore;
  /** What was opened with servers, and errors that came without them too. */
  readonly #known = new Set<string>();
  readonly #suspected = new Map<string, 'new' | 'known'>();
  readonly #takeOwn = new Set<string>();

  constructor(store: FactStore = new Map<string, unknown>()) {
    this.#store = store;
  }

  /**
   * @param agent its id and version
   * @param servers with other ones, the agent is asked again
   */
  of(agent: string, servers: readonly McpServer[]): Refused | undefined {
    if (this.#suspected.has(agent)) return 'own';
    const kept = this.#store.get(PREFIX + agent);
    const refused = at(kept, 'refused');
    if (refused === 'own') return 'own';
    return refused === 'all' && at(kept, 'servers') === hashOf(servers) ? 'all' : undefined;
  }

  note(agent: string, servers: readonly McpServer[], refused: Refused): void {
    this.#store.set(PREFIX + agent, { refused, servers: refused === 'all' ? hashOf(servers) : undefined });
  }

  /**
   * The agent ended or didn't answer when a session was opened. Not stored: there may be another
   * reason.
   * @param hasOwn it was given our own server
   */
  ended(agent: string, hasOwn: boolean): void {
    if (!hasOwn)
      this.#suspected.delete(agent); // that is not why
    else if (!this.#takeOwn.has(agent)) this.#suspected.set(agent, 'new');
  }

  /** Returns true once if our own server may be the reason. */
  takeSuspicion(agent: string): boolean {
    if (this.#suspected.get(agent) !== 'new') return false;
    this.#suspected.set(agent, 'known');
    return true;
  }

  /** @param hasOwn as for {@link ended} */
  taken(agent: string, servers: readonly McpServer[], hasOwn: boolean): void {
    this.#remember(`${agent} takes ${hashOf(servers)}`);
    if (hasOwn) this.#takeOwn.add(agent);
  }

  unrelated(agent: string, error: string): void {
    this.#remember(`${agent} fails ${error}`);
  }

  mayExplain(agent: string, servers: readonly McpServer[], error: string): boolean {
    if (servers.length === 0) return false;
    return !this.#known.has(`${agent} takes ${hashOf(servers)}`) && !this.#known.has(`${agent} fails ${error}`);
  }

  #remember(fact: string): void {
    if (this.#known.size >= MAX_ERRORS) this.#known.clear();
    this.#known.add(fact);
  }
}

const PREFIX = 'mcpRefused:';

/** Servers may hold secrets. */
function hashOf(servers: readonly McpServer[]): string {
  return createHash('sha256').update(JSON.stringify(servers)).digest('hex').slice(0, 16);
}
