// Remembers which protocol version to offer each agent first: an agent that had to be started twice
// to agree is started once the next time.
import type { ProtocolVersion } from '../../acp/initialize';
import type { AgentDefinition } from '../../agents/agentDefinition';

const MAX_AGENTS = 200;

export class ProtocolOffers {
  readonly #known = new Map<string, { readonly offer: ProtocolVersion; readonly version: string | undefined }>();

  /**
   * The version to offer. `auto` means 1: version 2 is a draft, and only version 1 gives an agent
   * this window's files, with unsaved changes.
   */
  first(agent: AgentDefinition): ProtocolVersion {
    return this.#known.get(keyOf(agent))?.offer ?? wanted(agent);
  }

  /**
   * An agent has agreed to an offer.
   * @param version of the agent; a changed one is asked again
   */
  learned(agent: AgentDefinition, offer: ProtocolVersion, version: string | undefined): void {
    const key = keyOf(agent);
    const known = this.#known.get(key);
    if (known ? known.version !== version : offer === wanted(agent)) {
      this.#known.delete(key);
      return;
    }
    this.#known.set(key, { offer, version });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_AGENTS && oldest !== undefined) this.#known.delete(oldest);
  }
}

function wanted({ protocol }: AgentDefinition): ProtocolVersion {
  return protocol === 2 ? 2 : 1;
}

/** What is started or connected to: with another command it is another agent. */
function keyOf(agent: AgentDefinition): string {
  const target = agent.type === 'process' ? [agent.command, ...agent.args] : [agent.url];
  return JSON.stringify([agent.id, agent.protocol, ...target]);
}
