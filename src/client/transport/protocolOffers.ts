// Chooses the protocol version to offer each agent. With `auto`: version 1, until a comparison
// shows that the agent loses nothing in version 2. Each version of an agent is compared once.
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { ProtocolVersion } from '../../acp/initialize';
import type { AgentDescription, AgentFeatures } from '../../acp/protocol/dialect';
import type { AgentDefinition } from '../../agents/agentDefinition';
import type { FactStore } from '../ports/ports';

const MAX_AGENTS = 200;
const STORED_AS = 'protocolOffers';

const knownSchema = z.object({
  /** Version of the agent. */
  version: z.optional(z.string()),
  offer: z.union([z.literal(1), z.literal(2)]),
  /** Absent: version 2 was not compared yet. */
  why: z.optional(z.enum(['only', 'keeps-all', 'loses'])),
  /** Features lost in version 2. */
  lost: z.optional(z.array(z.string())),
  /** Services that it has done without the client. */
  alone: z.optional(z.array(z.string())),
});

type Known = z.infer<typeof knownSchema>;

export interface ProtocolChoice {
  readonly offer: ProtocolVersion;
  /** `set`: by the user. `undecided`: not compared. */
  readonly why: 'set' | 'undecided' | NonNullable<Known['why']>;
  readonly lost: readonly string[];
}

/** What an agent of version 1 may ask the client to do. */
export type ClientService = 'files' | 'terminals';

export class ProtocolOffers {
  readonly #store: FactStore;
  readonly #known: Map<string, Known>;
  readonly #comparing = new Set<string>();

  constructor(store: FactStore = new Map<string, unknown>()) {
    this.#store = store;
    const stored = z.array(z.tuple([z.string(), knownSchema])).safeParse(store.get(STORED_AS));
    this.#known = new Map(stored.data);
  }

  choiceOf(agent: AgentDefinition): ProtocolChoice {
    const { offer, why, lost = [] } = this.#known.get(keyOf(agent)) ?? { offer: wanted(agent) };
    return { offer, why: why ?? (agent.protocol === 'auto' ? 'undecided' : 'set'), lost };
  }

  /**
   * The agent has accepted an offer.
   * @param version of the agent; a changed one is compared again
   */
  learned(agent: AgentDefinition, offer: ProtocolVersion, version: string | undefined): void {
    const key = keyOf(agent);
    const known = this.#known.get(key);
    if (known?.version === version && known?.offer === offer) return;
    if (known && known.version !== version) this.#begin(key, agent, version);
    else if (offer !== this.choiceOf(agent).offer) this.#keep(key, { version, offer, why: 'only' });
    else this.#begin(key, agent, version);
  }

  /** The agent has asked the client for a service. */
  used(agent: AgentDefinition, method: string): void {
    const service = method.startsWith('fs/') ? 'files' : method.startsWith('terminal/') ? 'terminals' : undefined;
    const known = this.#ofAuto(agent);
    if (service && known && !known.lost?.includes(service)) this.#lose(agent, known, [service]);
  }

  /**
   * The agent has done something itself that the client could have done.
   * @returns whether to compare it now; {@link release} must follow
   */
  didAlone(agent: AgentDefinition, services: readonly ClientService[]): boolean {
    const known = this.#ofAuto(agent);
    if (!known || known.why !== undefined) return false;
    const { alone: before = [] } = known;
    const alone = [...new Set([...before, ...services])];
    const key = keyOf(agent);
    if (alone.length > before.length) this.#keep(key, { ...known, alone });
    if (alone.length < 2 || this.#comparing.has(key)) return false;
    this.#comparing.add(key);
    return true;
  }

  release(agent: AgentDefinition): void {
    this.#comparing.delete(keyOf(agent));
  }

  /**
   * @param inV2 the agent's description in version 2; undefined: it failed
   * @param more features in version 1 that its description lacks
   */
  compared(agent: AgentDefinition, inV1: AgentDescription, inV2: AgentDescription | undefined, more: string[]): void {
    const known = this.#ofAuto(agent);
    if (!known || known.version !== inV1.version) return;
    if (inV2?.protocol === 1) this.#keep(keyOf(agent), { ...known, why: 'only' });
    else if (!inV2) this.#lose(agent, known, ['initialize']);
    else {
      const lost = [...lostFeatures(inV1, inV2), ...more];
      if (lost.length > 0) this.#lose(agent, known, lost);
      else this.#keep(keyOf(agent), { ...known, offer: 2, why: 'keeps-all' });
    }
  }

  /** The agent did not start with an offer that was chosen here. */
  failed(agent: AgentDefinition, offer: ProtocolVersion): void {
    const known = this.#ofAuto(agent);
    if (offer === 2 && known?.why === 'keeps-all') this.#lose(agent, known, ['initialize']);
  }

  /** Undefined if there is nothing to decide. */
  #ofAuto(agent: AgentDefinition): Known | undefined {
    const known = agent.protocol === 'auto' ? this.#known.get(keyOf(agent)) : undefined;
    return known?.why === 'only' ? undefined : known;
  }

  #lose(agent: AgentDefinition, known: Known, lost: readonly string[]): void {
    this.#keep(keyOf(agent), { ...known, offer: 1, why: 'loses', lost: [...(known.lost ?? []), ...lost] });
  }

  #keep(key: string, known: Known): void {
    this.#known.delete(key);
    this.#known.set(key, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_AGENTS && oldest !== undefined) this.#known.delete(oldest);
    this.#store.set(STORED_AS, [...this.#known]);
  }

  /** Starts over for an unknown version of an agent. */
  #begin(key: string, agent: AgentDefinition, version: string | undefined): void {
    if (agent.protocol === 'auto') this.#keep(key, { version, offer: 1 });
    else if (this.#known.delete(key)) this.#store.set(STORED_AS, [...this.#known]);
  }
}

/** Features that version 2 has in another form. */
const IN_OTHER_FORM: Partial<Record<keyof AgentFeatures, (v2: AgentFeatures) => unknown>> = {
  load: ({ resume }) => resume?.replay,
  turnComplete: ({ states }) => states,
};

function lostFeatures(inV1: AgentDescription, inV2: AgentDescription): readonly string[] {
  const { prompt, ...features } = inV1.features;
  const names = Object.keys(features) as (keyof typeof features)[];
  const kinds = (['image', 'audio', 'embeddedContext'] as const).filter((kind) => prompt[kind]);
  const ways = new Set(inV2.authMethods.map(({ id }) => id));
  return [
    ...names.filter((name) => !(IN_OTHER_FORM[name]?.(inV2.features) ?? inV2.features[name])),
    ...kinds.filter((kind) => !inV2.features.prompt[kind]),
    ...inV1.authMethods.flatMap(({ id }) => (ways.has(id) ? [] : [id])),
  ];
}

function wanted({ protocol }: AgentDefinition): ProtocolVersion {
  return protocol === 2 ? 2 : 1;
}

/** Hash of the command or address that identifies an agent; arguments can be secret. */
function keyOf(agent: AgentDefinition): string {
  const target = agent.type === 'process' ? [agent.command, ...agent.args] : [agent.url];
  const text = JSON.stringify([agent.id, agent.protocol, ...target]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
