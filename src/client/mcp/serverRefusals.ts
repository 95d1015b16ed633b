// Remembers which agents open no session with MCP servers, so that each version of an agent fails
// only once.
import { createHash } from 'node:crypto';
import type { McpServer } from '../../acp/protocol/dialect';
import { at } from '../../base/untrusted';
import type { FactStore } from '../ports/ports';

export type Refused = 'own' | 'all';

const MAX_ERRORS = 200;

export class ServerRefusals {
  readonly #store: FactStore;
  /** What was opened with servers, and errors that occurred without them too. */
  readonly #facts = new Set<string>();
  readonly #suspectedAgents = new Map<string, 'new' | 'known'>();
  readonly #acceptOwn = new Set<string>();

  constructor(store: FactStore = new Map<string, unknown>()) {
    this.#store = store;
  }

  /**
   * @param agent id and version
   * @param servers different ones are tried again
   */
  refusedBy(agent: string, servers: readonly McpServer[]): Refused | undefined {
    if (this.#suspectedAgents.has(agent)) return 'own';
    const storedFact = this.#store.get(PREFIX + agent);
    const refused = at(storedFact, 'refused');
    if (refused === 'own') return 'own';
    return refused === 'all' && at(storedFact, 'servers') === hashOf(servers) ? 'all' : undefined;
  }

  noteRefusal(agent: string, servers: readonly McpServer[], refused: Refused): void {
    this.#store.set(PREFIX + agent, { refused, servers: refused === 'all' ? hashOf(servers) : undefined });
  }

  /**
   * Notes that the agent ended or didn't answer while opening a session. Not stored, as there may
   * be another reason.
   * @param hasOwn the agent was given our own server
   */
  noteExit(agent: string, hasOwn: boolean): void {
    if (!hasOwn)
      this.#suspectedAgents.delete(agent); // our server isn't the reason
    else if (!this.#acceptOwn.has(agent)) this.#suspectedAgents.set(agent, 'new');
  }

  /** Returns true, once, if our own server may be the reason. */
  takeSuspicion(agent: string): boolean {
    if (this.#suspectedAgents.get(agent) !== 'new') return false;
    this.#suspectedAgents.set(agent, 'known');
    return true;
  }

  noteAccepted(agent: string, servers: readonly McpServer[], hasOwn: boolean): void {
    this.#remember(`${agent} takes ${hashOf(servers)}`);
    if (hasOwn) this.#acceptOwn.add(agent);
  }

  noteUnrelated(agent: string, error: string): void {
    this.#remember(`${agent} fails ${error}`);
  }

  mayExplain(agent: string, servers: readonly McpServer[], error: string): boolean {
    if (servers.length === 0) return false;
    return !this.#facts.has(`${agent} takes ${hashOf(servers)}`) && !this.#facts.has(`${agent} fails ${error}`);
  }

  #remember(fact: string): void {
    if (this.#facts.size >= MAX_ERRORS) this.#facts.clear();
    this.#facts.add(fact);
  }
}

const PREFIX = 'mcpRefused:';

/** Hashed, as servers may hold secrets. */
function hashOf(servers: readonly McpServer[]): string {
  return createHash('sha256').update(JSON.stringify(servers)).digest('hex').slice(0, 16);
}
