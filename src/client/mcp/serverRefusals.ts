// Remembers which agents open no session while MCP servers are handed over, so that each version of an
// agent is asked without them only once.
import { createHash } from 'node:crypto';
import type { McpServer } from '../../acp/protocol/dialect';
import { at } from '../../base/untrusted';

/** What an agent does not take: the product's own server, or any. */
export type Refused = 'own' | 'all';

/** Keeps small values over windows. */
export interface RefusalStore {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/** Errors that are remembered. */
const MAX_ERRORS = 200;

export class ServerRefusals {
  readonly #store: RefusalStore;
  /** What has been opened with servers, and errors that came without them too. */
  readonly #known = new Set<string>();
  /** Agents that ended, or said nothing, as they were given the product's own server. */
  readonly #suspected = new Map<string, 'new' | 'known'>();
  /** Agents that have opened a session with that server. */
  readonly #takeOwn = new Set<string>();

  /** @param store absent: they are kept in memory */
  constructor(store: RefusalStore = inMemory()) {
    this.#store = store;
  }

  /**
   * @param agent its id and version
   * @param servers of the user; with other ones, an agent that took none is asked again
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
   * The agent ended, or did not answer, as it was asked to open a session. For this window only: it may
   * have had another reason.
   * @param hasOwn it was given the product's own server
   */
  ended(agent: string, hasOwn: boolean): void {
    if (!hasOwn)
      this.#suspected.delete(agent); // that is not why
    else if (!this.#takeOwn.has(agent)) this.#suspected.set(agent, 'new');
  }

  /** Returns, once, that the agent may have ended because of the product's own server. */
  takeSuspicion(agent: string): boolean {
    if (this.#suspected.get(agent) !== 'new') return false;
    this.#suspected.set(agent, 'known');
    return true;
  }

  /** The agent has opened a session with these servers. @param hasOwn as for {@link ended} */
  taken(agent: string, servers: readonly McpServer[], hasOwn: boolean): void {
    this.#remember(`${agent} takes ${hashOf(servers)}`);
    if (hasOwn) this.#takeOwn.add(agent);
  }

  /** The agent has answered with this error whatever was handed over. */
  unrelated(agent: string, error: string): void {
    this.#remember(`${agent} fails ${error}`);
  }

  /** Returns whether servers may be why an agent has answered with an error. */
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

function inMemory(): RefusalStore {
  const values = new Map<string, unknown>();
  return { get: (key) => values.get(key), set: (key, value) => void values.set(key, value) };
}
